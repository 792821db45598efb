/** Restores the arguments that an agent sent from what the journal has of the call. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { DecisionEvent } from "../events.ts";
import type { Sealing } from "./sealing.ts";
import { keysOf, withValueAt } from "./sensitive-values.ts";

type Sealed = Pick<DecisionEvent, "tenantId" | "decisionId" | "arguments">;

/**
 * The arguments as they were sent; null where a sealed value cannot be opened, or has no path in
 * them.
 * @throws MissingSecretError
 */
export function openArguments(decision: Sealed, sealing: Pick<Sealing, "open">): JsonObject | null {
  let args: JsonObject | null = JSON.parse(decision.arguments.text) as JsonObject;
  for (const { path, keyId, nonce, sealed } of decision.arguments.sealed) {
    const sealPath = [decision.tenantId, decision.decisionId, path] as const;
    const text = sealing.open(keyId, sealPath, { nonce, sealed });
    if (text === null || args === null) return null;
    args = withValueAt(args, keysOf(path), JSON.parse(text) as JsonValue);
  }
  return args;
}

/** The same as canonical JSON. */
export function openedText(decision: Sealed, sealing: Pick<Sealing, "open">): string | null {
  if (decision.arguments.sealed.length === 0) return decision.arguments.text;
  const args = openArguments(decision, sealing);
  return args === null ? null : canonicalText(args);
}
