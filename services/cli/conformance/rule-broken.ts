/** An executor does not do what the protocol says; the message says what was seen instead. */
export class RuleBroken extends Error {
  override readonly name = "RuleBroken";
}

/** @throws RuleBroken */
export function assertRule(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new RuleBroken(otherwise);
}
