// The checker of one run: reads its order from stdin and prints the verdict as JSON.
import { text } from "node:stream/consumers";
import { checkRun } from "./check-run.ts";
import type { JudgeOrder } from "./judge.ts";
import { openLabCodec, openLabPolicy } from "./lab-codec.ts";
import { readTopics } from "./read-topics.ts";

// Child processes end with this process.
process.once("SIGTERM", () => process.exit(1));

const order = JSON.parse(await text(process.stdin)) as JudgeOrder;
const { libs, classes, bootstrap, names, sent, stage } = order;
// Reads the journal's end first, so that the inputs contain everything that it has decided.
const { decisions, ...others } = names;
const [read, codec, policy] = await Promise.all([
  readTopics({ libs, classes, bootstrap }, [decisions, ...Object.values(others)]),
  openLabCodec(bootstrap, names, order.registry),
  openLabPolicy(order.policyFile),
]);
const verdict = checkRun({ names, read, sent, stage, codec, policies: [policy] });
process.stdout.write(JSON.stringify(verdict), () => process.exit());
