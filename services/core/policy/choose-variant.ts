/** Which variants a call of a meta tool has, by the name in its argument. */
import type { Ranked } from "./merge-variants.ts";

/** Chooses among the variants. */
export interface Choices {
  readonly rules: readonly {
    readonly matches: (name: string) => boolean;
    /** More than `matches`: names that some server may take for those. It makes a call stricter and never laxer. */
    readonly mayMatch: (name: string) => boolean;
    readonly variant: Ranked;
  }[];
  readonly otherwise: Ranked;
}

/** The first rule that is about it; and before it each that may be. */
export function choose(name: string, { rules, otherwise }: Choices): readonly Ranked[] {
  const found: Ranked[] = [];
  for (const { matches, mayMatch, variant } of rules) {
    if (mayMatch(name)) found.push(variant);
    if (matches(name)) return found;
  }
  return [...found, otherwise];
}

/** What cannot be read may be what any of the rules is about. */
export function unreadable({ rules, otherwise }: Choices): readonly Ranked[] {
  return [otherwise, ...rules.map(({ variant }) => variant)];
}
