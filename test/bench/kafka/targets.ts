/** The targets of the gate on Kafka. */
import type { Target } from "../targets.ts";
import { SESSION_MS } from "./bench-gate.ts";
import { EXCHANGED, KILLED_WITH_REDIS, KILLED_WITHOUT } from "./measure-deaths.ts";
import { BEHIND_FLOOD, CLEAN_END, IDLE } from "./measure-field.ts";
import { cpuRow, pacedRow, throughputRow } from "./measure-shared.ts";

const PLAIN_LOOP = "bare loop";
const GATE = "gate";
const STREAMS = "Kafka Streams";

const THROUGHPUT: readonly Target[] = [
  { row: throughputRow(4, GATE), per: throughputRow(4, PLAIN_LOOP), figure: "p50", atLeast: 0.52 },
  { row: throughputRow(4, GATE), per: throughputRow(4, STREAMS), figure: "p50", atLeast: 0.95 },
  { row: throughputRow(1, GATE), per: throughputRow(1, STREAMS), figure: "p50", atLeast: 0.95 },
  { row: cpuRow(4, GATE), per: cpuRow(4, STREAMS), figure: "p50", atMost: 1 },
];

const PACED: readonly Target[] = (["p50", "p99"] as const).map(
  (figure): Target => ({
    ...{ row: pacedRow(500, GATE), per: pacedRow(500, STREAMS) },
    ...{ figure, atMost: 1 },
  }),
);

/** The group notices a dead member after a session; the rest is the take-over. */
const KILLED_MS = 1.2 * SESSION_MS;
const EXCHANGED_MS = 1_000;

const DEATHS: readonly Target[] = [
  { row: KILLED_WITH_REDIS, figure: "p50", atMost: KILLED_MS },
  { row: KILLED_WITHOUT, figure: "p50", atMost: KILLED_MS },
  { row: EXCHANGED, figure: "p50", atMost: EXCHANGED_MS },
];

const FIELD: readonly Target[] = [
  { row: IDLE, figure: "p50", atMost: 10 },
  { row: BEHIND_FLOOD, figure: "p50", atMost: 1_000 },
  { row: CLEAN_END, figure: "p50", atMost: 1_000 },
];

export const PARTS = [
  "throughput",
  "paced",
  "kill",
  "replay",
  "memory",
  "conversations",
  "field",
] as const;

export type PartName = (typeof PARTS)[number];

/** Replay, memory and many conversations have no targets; they only have to be printed. */
export const TARGETS: { readonly [part in PartName]: readonly Target[] } = {
  throughput: THROUGHPUT,
  paced: PACED,
  kill: DEATHS,
  replay: [],
  memory: [],
  conversations: [],
  field: FIELD,
};
