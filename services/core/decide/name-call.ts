/** Parses a call's arguments and derives its name, by which the gate recognizes a redelivery. */
import type { CanonicalText } from "../canonical/canonicalize.ts";
import type { CanonicalFailure } from "../canonical/failure.ts";
import { readCanonical } from "../canonical/parse-canonical.ts";
import { actionDigest, decisionIdOf, rawDigest } from "../hash.ts";
import type { ProposalInput } from "../inputs.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";

export interface IdentifiedCall {
  readonly read: CanonicalText | CanonicalFailure;
  /** Canonical text of the arguments; empty where they do not parse. */
  readonly text: string;
  readonly argumentsDigest: string;
  readonly decisionId: string;
}

export function nameCall(proposal: ProposalInput, policy: CompiledPolicy): IdentifiedCall {
  const read = readCanonical(proposal.arguments, policy.canonicalLimits);
  const argumentsDigest = read.ok
    ? actionDigest(proposal.tool, read.text)
    : rawDigest(proposal.tool, proposal.arguments);
  return {
    read,
    text: read.ok ? read.text : "",
    argumentsDigest,
    decisionId: decisionIdOf(proposal, proposal.tool, argumentsDigest),
  };
}
