/** A broken invariant: a defect of the engine itself. The caller refuses with `internal_error`. */
export class InvariantViolation extends Error {
  override readonly name = "InvariantViolation";
}

export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantViolation(message);
}

/** Closes a switch over a union: a new member that is not handled does not compile. */
export function assertNever(value: never): never {
  throw new InvariantViolation(`unexpected value ${JSON.stringify(value)}`);
}
