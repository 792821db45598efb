/** What a section of the bench is. */
import type { BenchRow } from "./bench-row.ts";
import type { Target } from "./targets.ts";

/** Rows of one group; `base` names the row that the others are divided by. */
export type Table = { readonly base: string | null; readonly rows: readonly BenchRow[] };

export type SectionResult = {
  readonly tables: readonly Table[];
  readonly failures: readonly string[];
  readonly missing: readonly string[];
};

export type Section = {
  readonly name: string;
  readonly title: string;
  readonly rounds: number;
  /** It takes so long that it runs only where `--only` names it. */
  readonly isLong?: boolean;
  readonly targets: readonly Target[];
  /** `scratch`: an empty directory on disk. */
  readonly run: (scratch: string) => Promise<SectionResult>;
};
