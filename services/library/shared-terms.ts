import { canonicalText } from "../core/canonical/canonical-text.ts";
import type { JsonValue } from "../core/canonical/json-value.ts";
import { sha256Hex } from "../core/hash.ts";

/** By what a gate decides, besides its policy. */
export type OtherTerms = {
  /** The keys that verify tokens; absent: whoever proposes is trusted. */
  readonly proposalKeys: object | undefined;
  /** The names of the program's own normalizers. */
  readonly normalizers: readonly string[];
};

/** A digest by which two processes tell whether both would decide in the same way. */
export function termsOf(policy: string, { proposalKeys, normalizers }: OtherTerms): string {
  const keys = JSON.parse(JSON.stringify(proposalKeys ?? null)) as JsonValue;
  const terms = { policy, keys, normalizers: [...normalizers].sort() };
  return sha256Hex("callgate.shared/1", canonicalText(terms));
}
