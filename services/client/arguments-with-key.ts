import type { JsonObject } from "../core/canonical/json-value.ts";
import { withKey, withoutKey } from "../core/policy/key-argument.ts";

/**
 * What the tool gets: the argument that is declared to carry the key, a path with dots, holds the gate's
 * key, never what the model wrote there. Where no object can hold it (a call that was let run all the same), they
 * are handed over without a key.
 */
export function argumentsWithKey(
  args: JsonObject,
  idempotencyArgument: string | null,
  key: string | undefined,
): JsonObject {
  if (idempotencyArgument === null) return args;
  if (key === undefined) return withoutKey(args, idempotencyArgument);
  return withKey(args, idempotencyArgument, key);
}
