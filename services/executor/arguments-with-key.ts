import type { JsonObject } from "../core/canonical/json-value.ts";
import { withoutArgument } from "../core/policy/argument-path.ts";

/**
 * What the tool gets: the argument that is declared to carry the key holds the gate's key, never what
 * the model wrote there.
 */
export function argumentsWithKey(
  args: JsonObject,
  idempotencyArgument: string | null,
  key: string | undefined,
): JsonObject {
  if (idempotencyArgument === null) return args;
  if (key === undefined) return withoutArgument(args, idempotencyArgument);
  return { ...args, [idempotencyArgument]: key };
}
