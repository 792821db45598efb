// Runs the analytics of a data directory until it is killed; reports when everything was read.
import { systemClock } from "../../services/adapters/system/clock.ts";
import { Analytics } from "../../services/analytics/analytics.ts";
import { openLog } from "../../services/process/directory/open-log.ts";
import { JOURNAL_TOPIC } from "../../services/runtime/topics.ts";
import { createTestLogger } from "./runtime-kit.ts";

const [dataDir = "", directory = ""] = process.argv.slice(2);
const { log, codec } = openLog(dataDir);
const analytics = await Analytics.open({
  ...{ log, codec, directory, clock: systemClock, logger: createTestLogger([]) },
  options: { persistMs: 10 },
  fail: (error) => {
    throw error;
  },
});
analytics.start();
const end = await log.endOffset(JOURNAL_TOPIC, 0);
const hasRead = () => analytics.lags.some(({ nextOffset }) => nextOffset >= end);
setInterval(() => {
  // The state is written often, and the Parquet files only every minute.
  if (hasRead() && analytics.totals.analytics_decisions_total !== undefined) {
    process.stdout.write("read\n");
  }
}, 5);
