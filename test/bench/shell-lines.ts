/**
 * The cost of splitting a shell line into plain commands, also for long lines that are hard to
 * parse.
 */
import { parseLine } from "../../services/commands/shell/plain-line.ts";
import { type BenchRow, percentile } from "./bench-row.ts";

export const EVERYDAY_LINE_ROW = "a line of 80 characters";
export const LONGEST_LINE_ROW = "the slowest line of 64 KB";

const OPTIONS = { assignments: new Set<string>(), startDirectory: "." };
const EVERYDAY = "cd packages/api && npm run build -- --verbose 2>&1 | tail -n 20 && git status -s";

/** Pieces that make a backtracking parser read them again. */
const PIECES = [
  ...[
    "a ",
    "a;",
    "a|",
    "a&&",
    "a\n",
    "'a b' ",
    '"a b" ',
    "\\a",
    "a",
    "$",
    "$(",
    '"$(',
    "`",
    `\${a:-`,
  ],
  ...["(", "( ", "{ ", "{", "{a,", "[", "[[:a", "*", "@(a|", "<<A ", "cat <<A\n", "cat <<'A'\nA\n"],
  ...[
    "((",
    "$((",
    "[[ ( ",
    "if ",
    "case a in ",
    "a() ",
    "coproc ",
    "<(",
    "$'",
    '$"',
    "\\\n",
    "#\n",
  ],
  ...["ls\n", ">a ", `'a'"b"`, "a\\ b", "cd a;"],
];
const LENGTH = 65_536;
/** Each piece is repeated as often as the parser's limit allows. */
const COUNTS = [100, 450, 2_900, 5_900, LENGTH];
const RUNS = 5;
const EVERYDAY_RUNS = 20_000;

export function benchShellLines(): readonly BenchRow[] {
  const everyday = measure(EVERYDAY, EVERYDAY_RUNS);
  const slowest = PIECES.flatMap((piece) =>
    COUNTS.map((count) => {
      const text = `cat ${piece.repeat(Math.min(count, Math.floor((LENGTH - 4) / piece.length)))}`;
      return { piece, count, us: percentile(measure(text, RUNS), 0.5) };
    }),
  ).reduce((some, other) => (some.us > other.us ? some : other));
  return [
    {
      name: EVERYDAY_LINE_ROW,
      unit: "µs",
      p50: percentile(everyday, 0.5),
      p99: percentile(everyday, 0.99),
    },
    {
      name: LONGEST_LINE_ROW,
      unit: "µs",
      p50: slowest.us,
      note: `${JSON.stringify(slowest.piece)} ${slowest.count} times`,
    },
  ];
}

/** Times in microseconds, sorted. */
function measure(text: string, runs: number): readonly number[] {
  const times = Array.from({ length: runs }, () => {
    const startedAt = performance.now();
    parseLine(text, OPTIONS);
    return (performance.now() - startedAt) * 1_000;
  });
  return times.sort((a, b) => a - b);
}
