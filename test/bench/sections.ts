/** The sections of the bench in their order, with their targets. */
import { join } from "node:path";
import type { BenchRow } from "./bench-row.ts";
import { RECORDED } from "./canonical.ts";
import { child, inRounds, type Measured, type Measurement } from "./children.ts";
import { PLAIN_CALL_ROW, SHELL_CALL_ROW } from "./command-calls.ts";
import { ENGINE_LENGTHS, engineRowName } from "./engine.ts";
import { PEER_CALLS_ROW } from "./peer-calls.ts";
import { BASELINE_ROW, installPeers, peerMeasurements } from "./peers.ts";
import { onEndFigure, type PipelineLoad, pipelineRowName } from "./pipeline.ts";
import { recordedArguments } from "./recorded-calls.ts";
import type { Section, Table } from "./section.ts";
import { EVERYDAY_LINE_ROW, LONGEST_LINE_ROW } from "./shell-lines.ts";
import { startRowName } from "./start.ts";
import { stateRowName } from "./state.ts";
import { stateSection } from "./state-section.ts";
import type { Target } from "./targets.ts";

/**
 * Calls in flight: as many as one batch takes. More would only wait, and the garbage collector
 * would copy them.
 */
const LOAD: PipelineLoad = {
  conversations: 20_000,
  calls: 40_000,
  warmUp: 20_000,
  inFlight: 500,
  alone: 500,
  paced: 600,
  pacedPerSecond: 200,
  onEnd: 100_000,
};

const STORED_DECISIONS = 10_000;

/** The flags of Node that docs/library.md recommends for a busy gate. */
const BUSY_FLAGS = ["--max-semi-space-size=64", "--initial-old-space-size=512"];

/** Plain ASCII, small integers, no escapes: what most calls are. */
const FAST_INPUTS = [
  "small, canonical, 85 bytes",
  "small, other order, 85 bytes",
  "canonical, 263 bytes",
  "other order, 263 bytes",
  RECORDED,
];

const canonical: Section = {
  name: "canonical",
  title: "Canonical form of a call's arguments",
  // The candidates take turns in one process, hundreds of times.
  rounds: 1,
  targets: FAST_INPUTS.map((input) => ({
    row: `${input}: parseCanonical`,
    per: `${input}: lossless-json + canonicalize`,
    figure: "p50",
    atMost: 1,
  })),
  run: async () => {
    const { rows, failures } = inRounds(canonical.rounds, [child("canonical")]);
    const recorded = recordedArguments();
    const missing = "missing" in recorded ? [recorded.missing] : [];
    return { tables: perInput(rows), failures, missing };
  },
};

const commands: Section = {
  name: "commands",
  title: "Shell lines and SQL: taking a line into plain commands, and a decision on it",
  rounds: 1,
  targets: [
    // The longer line has 819 times as many characters, and ten times as many words in each.
    { row: LONGEST_LINE_ROW, per: EVERYDAY_LINE_ROW, figure: "p50", atMost: 8_000 },
    { row: SHELL_CALL_ROW, per: PLAIN_CALL_ROW, figure: "p50", atMost: 25 },
  ],
  run: async () => {
    const lines = inRounds(commands.rounds, [child("commands")]);
    const calls = inRounds(commands.rounds, [child("command-calls")]);
    const tables = [
      { base: null, rows: lines.rows },
      { base: PLAIN_CALL_ROW, rows: calls.rows },
    ];
    return { tables, failures: [...lines.failures, ...calls.failures], missing: [] };
  },
};

/** Rows are called `<input>: <candidate>`. */
function perInput(rows: readonly BenchRow[]): readonly Table[] {
  const inputs = new Map<string, BenchRow[]>();
  for (const row of rows) {
    const input = row.name.slice(0, row.name.indexOf(":"));
    inputs.set(input, [...(inputs.get(input) ?? []), row]);
  }
  return [...inputs].map(([input, ofInput]) => ({ base: `${input}: JSON.parse`, rows: ofInput }));
}

/** Rows by calls of the conversation, most of which are no longer in the CPU's caches. */
const OF_BASELINE_MAX = { 10: 1.4, 1000: 1.9, 100000: 2.8 } as const;

const engine: Section = {
  name: "engine",
  title: "One call in the engine, and in others (each in a process of its own)",
  rounds: 3,
  targets: ENGINE_LENGTHS.map(
    (length): Target => ({
      row: engineRowName(length),
      per: BASELINE_ROW,
      figure: "p50",
      atMost: OF_BASELINE_MAX[length],
    }),
  ),
  run: async () => {
    const ours = ENGINE_LENGTHS.map((length) => child("engine", { length }));
    const peers = await installPeers();
    if (!peers.ok) {
      const { rows, failures } = inRounds(engine.rounds, ours);
      return { tables: [{ base: null, rows }], failures, missing: [peers.missing] };
    }
    const { directory, names } = peers;
    const measurements: readonly Measurement[] = [
      ...ours,
      child("peer-calls", { directory }),
      ...peerMeasurements(directory, names),
    ];
    const { rows, failures } = inRounds(engine.rounds, measurements);
    const lengths = ENGINE_LENGTHS.map((length) => engineRowName(length));
    const isOurs = ({ name }: BenchRow): boolean => lengths.includes(name);
    const baseline = rows.filter(({ name }) => name === BASELINE_ROW);
    const tables: readonly Table[] = [
      { base: BASELINE_ROW, rows: [...rows.filter(isOurs), ...baseline] },
      { base: PEER_CALLS_ROW, rows: rows.filter((row) => !isOurs(row)) },
    ];
    return { tables, failures, missing: [] };
  },
};

const EVERY_CHECK = "every check";
const NO_CHECK = "no check";

const checks: Section = {
  name: "checks",
  title: "One call in the engine, with every check on and with none",
  rounds: 3,
  targets: [
    ...ENGINE_LENGTHS.map(
      (length): Target => ({
        row: engineRowName(length, EVERY_CHECK),
        per: engineRowName(length, NO_CHECK),
        figure: "p50",
        atMost: 4.5,
      }),
    ),
    // The state reaches its bounds long before.
    {
      row: stateRowName(100_000, EVERY_CHECK),
      per: stateRowName(10_000, EVERY_CHECK),
      figure: "p50",
      atMost: 1.1,
    },
  ],
  run: async () => {
    const measurements = ENGINE_LENGTHS.flatMap((length) =>
      [EVERY_CHECK, NO_CHECK].map((on) => child("engine", { length, checks: on }, BUSY_FLAGS)),
    );
    const times = inRounds(checks.rounds, measurements);
    const sizes = inRounds(1, [child("state-of-every-check")]);
    const tables = ENGINE_LENGTHS.map((length): Table => {
      const base = engineRowName(length, NO_CHECK);
      const names = [engineRowName(length, EVERY_CHECK), base];
      return { base, rows: times.rows.filter(({ name }) => names.includes(name)) };
    });
    return {
      tables: [...tables, { base: null, rows: sizes.rows }],
      failures: [...times.failures, ...sizes.failures],
      missing: [],
    };
  },
};

const SATURATED = "decisions, saturated";
const PROCESSOR = "processor time of a decision, saturated";
const LIGHT = [`propose, ${LOAD.pacedPerSecond} per second`, "propose, 1 in flight"];

const pipeline: Section = {
  name: "pipeline",
  title: "The embedded pipeline, every commit flushed to disk",
  rounds: 3,
  targets: [
    {
      row: pipelineRowName(SATURATED, "policy"),
      per: pipelineRowName(SATURATED, "allow all"),
      figure: "p50",
      atLeast: 0.55,
    },
    ...LIGHT.flatMap((figure) =>
      (["p50", "p99"] as const).map(
        (of): Target => ({
          // For latencies the ratio is inverted, so that more is better here too.
          row: pipelineRowName(figure, "allow all"),
          per: pipelineRowName(figure, "policy"),
          figure: of,
          atLeast: 0.5,
        }),
      ),
    ),
  ],
  run: async () => {
    const gates = ["policy", "policy, Node's default heap", "allow all"] as const;
    const measurements = gates.map((gate) =>
      child("pipeline", { gate, load: LOAD }, gate.endsWith("heap") ? [] : BUSY_FLAGS),
    );
    const { rows, failures } = inRounds(pipeline.rounds, measurements);
    const figures = [
      SATURATED,
      PROCESSOR,
      onEndFigure(LOAD),
      `propose, ${LOAD.inFlight} in flight`,
      ...LIGHT,
    ];
    const tables = figures.map((figure): Table => {
      const names = gates.map((gate) => pipelineRowName(figure, gate));
      const ofFigure = rows.filter(({ name }) => names.includes(name));
      return { base: pipelineRowName(figure, "allow all"), rows: ofFigure };
    });
    return { tables, failures, missing: [] };
  },
};

const start: Section = {
  name: "start",
  title: "Start, replay and memory",
  rounds: 5,
  targets: [],
  run: async (scratch) => {
    const empty = join(scratch, "start", "empty");
    const filled = join(scratch, "start", "filled");
    const prepared = inRounds(1, [
      child("fill", { dataDir: empty, decisions: 0 }),
      child("fill", { dataDir: filled, decisions: STORED_DECISIONS }),
    ]);
    const starts: Measured = inRounds(start.rounds, [
      freshStart(empty),
      child("start", { dataDir: filled, name: startRowName(STORED_DECISIONS) }),
      child("restore", { dataDir: filled }),
    ]);
    const sizes = inRounds(1, [child("state")]);
    return {
      tables: [starts, sizes].map(({ rows }) => ({ base: null, rows })),
      failures: [...prepared.failures, ...starts.failures, ...sizes.failures],
      missing: [],
    };
  },
};

/** On a directory that is empty each time. */
function freshStart(directory: string): Measurement {
  let times = 0;
  return {
    name: startRowName(0),
    run: () => {
      times += 1;
      const dataDir = `${directory}-${times}`;
      return child("start", { dataDir, name: startRowName(0) }).run();
    },
  };
}

export const SECTIONS: readonly Section[] = [
  canonical,
  commands,
  engine,
  checks,
  pipeline,
  start,
  stateSection,
];
