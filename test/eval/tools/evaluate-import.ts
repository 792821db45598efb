/** The part of the evaluation on what an import knows about tools. */
import type { PartResult, PartTarget } from "../part-result.ts";
import { textTable } from "../text-table.ts";
import { type ImportScore, scoreSource, sumScores } from "./score-import.ts";
import { HALVES, type Half, readToolSources } from "./tool-corpus.ts";

interface Row {
  readonly half: Half;
  readonly trusted: boolean;
  readonly score: ImportScore;
}

const READS_MIN = 0.92;
const EFFECTS_MIN = 0.6;
const HELD_MAX = 0.1;

const TITLES = [
  "tools",
  "reads found",
  "writes taken for reads",
  "usable effects",
  "harmless held",
  "keys found",
  "wrong keys",
];

/** Wrong answers are listed of the seen half alone: the other half shows what was not looked at. */
export async function evaluateImport(
  print: (text: string) => void,
  verbose: boolean,
): Promise<PartResult> {
  print("## Import\n");
  const rows = HALVES.flatMap((half) => {
    const sources = readToolSources(half);
    return [false, true].map((trusted): Row => {
      const scores = sources.map((source) => scoreSource(source, trusted));
      return { half, trusted, score: sumScores(scores) };
    });
  });
  print(textTable(TITLES, rows.map(cellsOf)));
  if (verbose) {
    const seen = rows.find(({ half, trusted }) => half === "seen" && !trusted);
    for (const wrong of seen?.score.wrong ?? []) print(`- ${wrong}`);
  }
  print("");
  const targets = rows.filter(({ trusted }) => !trusted).flatMap(targetsOf);
  return { name: "import", missing: [], targets };
}

function cellsOf({ half, trusted, score }: Row): readonly string[] {
  return [
    `${half}${trusted ? ", servers trusted" : ""}`,
    shareOf(score.readsRecognized, score.reads),
    `${score.writesAsReads} of ${score.writes}`,
    shareOf(score.usableEffects, score.withEffect),
    shareOf(score.harmlessHeld, score.harmless),
    `${score.keysRecognized} of ${score.keys}`,
    String(score.wrongKeys),
  ];
}

function percentOf(part: number, whole: number): string {
  return ((100 * part) / Math.max(whole, 1)).toFixed(1);
}

function shareOf(part: number, whole: number): string {
  return `${percentOf(part, whole)} % (${part} of ${whole})`;
}

function targetsOf({ half, score }: Row): readonly PartTarget[] {
  const { reads, readsRecognized, writesAsReads, withEffect, usableEffects } = score;
  const { harmless, harmlessHeld } = score;
  const percent = (share: number): string => (share * 100).toFixed(0);
  return [
    {
      name: `${half}: reads found, %`,
      wanted: `at least ${percent(READS_MIN)}`,
      actual: percentOf(readsRecognized, reads),
      ok: readsRecognized >= READS_MIN * reads,
    },
    {
      name: `${half}: writes taken for reads`,
      wanted: "at most 0",
      actual: String(writesAsReads),
      ok: writesAsReads === 0,
    },
    {
      name: `${half}: writes with a usable effect, %`,
      wanted: `at least ${percent(EFFECTS_MIN)}`,
      actual: percentOf(usableEffects, withEffect),
      ok: usableEffects >= EFFECTS_MIN * withEffect,
    },
    {
      name: `${half}: harmless tools held, %`,
      wanted: `below ${percent(HELD_MAX)}`,
      actual: percentOf(harmlessHeld, harmless),
      ok: harmlessHeld < HELD_MAX * harmless,
    },
  ];
}
