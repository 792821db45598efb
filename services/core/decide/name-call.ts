/** Parses a call's arguments and derives its name, by which the gate recognizes a redelivery. */
import { type CanonicalResult, parseCanonical } from "../canonical/parse-canonical.ts";
import { actionDigest, decisionIdOf, rawDigest } from "../hash.ts";
import type { ProposalInput } from "../inputs.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";

export interface IdentifiedCall {
  readonly parsed: CanonicalResult;
  /** Canonical text of the arguments; empty where they do not parse. */
  readonly text: string;
  readonly argumentsDigest: string;
  readonly decisionId: string;
}

export function nameCall(proposal: ProposalInput, policy: CompiledPolicy): IdentifiedCall {
  const parsed = parseCanonical(proposal.arguments, policy.canonicalLimits);
  const argumentsDigest = parsed.ok
    ? actionDigest(proposal.tool, parsed.text)
    : rawDigest(proposal.tool, proposal.arguments);
  return {
    parsed,
    text: parsed.ok ? parsed.text : "",
    argumentsDigest,
    decisionId: decisionIdOf(proposal, proposal.tool, argumentsDigest),
  };
}
