// Every fault that is tried, in the order of the table.
import type { Row } from "./lab/row.ts";
import { gateKilled, gatePaused, gatesComeAndGo } from "./rows/gates.ts";
import { backlog, deadProducer, poison, readAgain } from "./rows/inputs.ts";
import { answersDelayed, commitUnanswered } from "./rows/wire.ts";

export const ROWS: readonly Row[] = [
  gateKilled,
  gatePaused,
  gatesComeAndGo,
  commitUnanswered,
  answersDelayed,
  poison,
  readAgain,
  backlog,
  deadProducer,
];
