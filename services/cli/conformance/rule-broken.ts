/** An executor does not do what the protocol says; the message says what was seen instead. */
export class RuleBroken extends Error {
  override readonly name = "RuleBroken";
}

/** @throws RuleBroken */
export function assertRule(isKept: boolean, otherwise: string): void {
  if (!isKept) throw new RuleBroken(otherwise);
}
