/** Restores the arguments of a held call, which is judged again when it is approved. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { CanonicalFailure } from "../canonical/failure.ts";
import type { JsonObject } from "../canonical/json-value.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import type { CallHeld } from "../events.ts";
import type { ClearArguments } from "../inputs.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import type { ConversationState } from "../state/state.ts";
import { openArguments } from "./open-arguments.ts";
import { sealArguments } from "./seal-arguments.ts";
import { inOrder, keysOf } from "./sensitive-values.ts";

export type ReopenedHold =
  | {
      readonly ok: true;
      readonly value: JsonObject;
      /** The text as it is journaled. */
      readonly text: string;
      /** Absent where no argument of the call is sensitive. */
      readonly clear?: ClearArguments;
    }
  | { readonly ok: false; readonly failure: CanonicalFailure | "not_opened" };

/**
 * Values that were sealed when the call was held stay sealed, whatever the policy says by now;
 * values that the policy declared sensitive since then are sealed from now on.
 * @throws MissingSecretError
 */
export function reopenHold(
  state: ConversationState,
  held: CallHeld,
  policy: CompiledPolicy,
): ReopenedHold {
  const own = held.arguments.sealed.map(({ path }) => keysOf(path));
  const paths = inOrder([...policy.tool(held.call.tool).sensitive, ...own]);
  if (paths.length === 0) return reread(held.arguments.text, policy);
  const value = openArguments(held, policy.sealing);
  if (value === null) return { ok: false, failure: "not_opened" };
  const read = reread(canonicalText(value), policy);
  if (!read.ok) return read;
  const { tenantId } = held;
  const keyId = held.arguments.sealed[0]?.keyId ?? state.sealKeyId ?? policy.sealing.keyId;
  const { value: _value, ...sealed } = sealArguments(
    read.value,
    paths,
    { keyId, tenantId },
    policy,
  );
  const clear = { ...sealed, keyId, value: read.value, text: read.text, paths };
  return { ...read, text: sealed.text, clear };
}

/**
 * The arguments had a canonical form when the call was held: only a newer policy's limits can
 * refuse them.
 */
function reread(text: string, policy: CompiledPolicy): ReopenedHold {
  const parsed = parseCanonical(text, policy.canonicalLimits);
  if (!parsed.ok) return { ok: false, failure: parsed };
  return { ok: true, value: parsed.value as JsonObject, text: parsed.text };
}
