export interface SqlStatement {
  /** Lower case: `select`, `delete`, `create`, …, `explain`, `pragma`. */
  readonly statement: string;
  /** Lower case, without quotes, with the schema where one is written: `users`, `public.users`. May name more than the statement touches, never fewer. */
  readonly tables: readonly string[];
  /** `watch`: a read whose answer changes by itself (`now()`). */
  readonly does: "read" | "watch" | "write";
}

export type SqlReading =
  | {
      readonly kind: "statements";
      /** Never empty. One written statement may yield several: `with x as (delete …) select …` is a `delete` and a `select`. */
      readonly statements: readonly SqlStatement[];
      /** Equal for two texts that differ in blanks, comments, case of keywords and a last `;` alone. */
      readonly identity: string;
    }
  | { readonly kind: "unclear"; readonly reason: string };

/**
 * Reads SQL text. Never throws; time is linear in the text.
 * @param extraFunctions functions that change nothing, beside the built-in list: `my_rank`, `geo.distance`; lower case.
 */
export function readSql(text: string, _extraFunctions: ReadonlySet<string>): SqlReading {
  return { kind: "unclear", reason: `SQL of ${text.length} characters was not read` };
}

/** Whether a statement's table is one that a rule names: `users` names it in every schema, `public.users` in that one alone. */
export function isTableNamed(table: string, name: string): boolean {
  const wanted = name.toLowerCase();
  return table === wanted || (!wanted.includes(".") && table.endsWith(`.${wanted}`));
}
