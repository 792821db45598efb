/** The analytics as a long-running process. */
import { type ExportedFamily, exportTotals } from "../adapters/metrics/export-totals.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { type ExitError, environmentError } from "../process/exit-error.ts";
import type { ProcessContext, RunningService } from "../process/run-process.ts";
import { isFileError } from "../process/text-files.ts";
import { ANALYTICS_OPTIONS, Analytics, type AnalyticsParts } from "./analytics.ts";
import { boundsOf, FAMILIES, type FamilyName } from "./totals.ts";

/** With more unread records the analytics are not ready. */
const LAG_RECORDS_MAX = 10_000;
/**
 * An idle journal is read every second. One that was not read for so long cannot be read, even if
 * few records seem to be left.
 */
const UNREAD_MS_MAX = 10_000;
const UNKEPT_MS_MAX = 10_000;

export type AnalyticsSource = Pick<AnalyticsParts, "log" | "codec"> & {
  close(): Promise<void>;
};

/** @param source the log and its codec; closed with the service. */
export async function startAnalytics(
  source: AnalyticsSource,
  { config, logger, metrics, fail }: ProcessContext,
): Promise<RunningService> {
  const { directory, idleMs, persistMs, segmentMs } = config.analytics;
  const analytics = await Analytics.open({
    ...{ log: source.log, codec: source.codec, clock: systemClock, logger, directory, fail },
    options: { persistMs, segmentMs, fold: { ...ANALYTICS_OPTIONS.fold, idleMs } },
  }).catch((error: unknown) => {
    throw isFileError(error) ? directoryError(directory, error) : error;
  });
  metrics.include(exportTotals(() => familiesOf(analytics)));
  metrics.watch("conversations_open", "open conversations", [], () => [
    { labels: {}, value: analytics.openConversations },
  ]);
  metrics.watch("analytics_lag_records", "journal records not read yet", ["partition"], () =>
    analytics.lags.map(({ partition, nextOffset, endOffset }) => ({
      labels: { partition: String(partition) },
      value: Math.max(0, endOffset - nextOffset),
    })),
  );
  analytics.start();
  return {
    ready: () => {
      const { lags, unreadMs, unkeptMs, hasReadAll } = analytics;
      const behind = lags.filter((lag) => lag.endOffset - lag.nextOffset > LAG_RECORDS_MAX);
      const isRead = hasReadAll && unreadMs <= UNREAD_MS_MAX;
      const ok = isRead && behind.length === 0 && unkeptMs <= UNKEPT_MS_MAX;
      return { ok, detail: { unreadMs, unkeptMs, partitions: lags } };
    },
    close: async () => {
      await analytics.close();
      await source.close();
      return true;
    },
  };
}

function directoryError(directory: string, error: NodeJS.ErrnoException): ExitError {
  const remedy = "name a directory that can be made and written (CALLGATE_ANALYTICS_DIRECTORY)";
  const what = `\`${directory}\` cannot be used: ${error.message}`;
  return environmentError(`analytics.directory: ${what}; ${remedy}`, error);
}

function familiesOf(analytics: Analytics): readonly ExportedFamily[] {
  return (Object.keys(FAMILIES) as FamilyName[]).map((name) => ({
    ...{ name, help: FAMILIES[name].help, bounds: boundsOf(name) },
    samples: analytics.totals[name] ?? [],
  }));
}
