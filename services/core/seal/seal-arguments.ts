/** Replaces a call's sensitive values with digests. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject } from "../canonical/json-value.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import type { Decision, SealedValue } from "../decision.ts";
import { sha256Hex } from "../hash.ts";
import type { ClearArguments, EnvelopeRejection, ProposalInput } from "../inputs.ts";
import { jsonMember } from "../json-path.ts";
import { isObject } from "../policy/argument-path.ts";
import type { CompiledPolicy, SealArguments } from "../policy/compiled.ts";
import { REASONS } from "../reasons/reasons.ts";
import type { ConversationState } from "../state/state.ts";
import { looksSealed, type SealPath } from "./sealing.ts";
import {
  pointerOf,
  replaceSensitive,
  type SensitivePath,
  type SensitiveValue,
} from "./sensitive-values.ts";

/**
 * The proposal that is judged and journaled: without the clear text of a field that its tool
 * declares sensitive, or of arguments that cannot be parsed. The same object for all other tools,
 * and where it is sealed already.
 * @throws MissingSecretError
 */
export function sealProposal(
  state: ConversationState | undefined,
  proposal: ProposalInput,
  policy: CompiledPolicy,
): ProposalInput {
  if (!policy.hidesArguments || proposal.clear !== undefined) return proposal;
  const paths = policy.tool(proposal.tool).sensitive;
  if (paths.length === 0) return proposal;
  const keyId = state?.sealKeyId ?? policy.sealing.keyId;
  if (proposal.rejected !== null) return sealedWhole(proposal, keyId, policy, proposal.rejected);
  const parsed = parseCanonical(proposal.arguments, policy.canonicalLimits);
  if (!parsed.ok) {
    const { reason, code, at } = parsed;
    const message = `\`${code}\` at offset ${at}; ${LEFT_OUT}`;
    return sealedWhole(proposal, keyId, policy, { reason, message });
  }
  if (!isObject(parsed.value)) {
    const message = 'the arguments are not a JSON object: send `{"name": value}`';
    return sealedWhole(proposal, keyId, policy, { reason: "malformed", message });
  }
  const sealed = sealArguments(parsed.value, paths, { keyId, tenantId: proposal.tenantId }, policy);
  const { sensitiveValues, digests } = sealed;
  return {
    ...proposal,
    arguments: sealed.text,
    clear: { keyId, value: parsed.value, text: parsed.text, paths, sensitiveValues, digests },
  };
}

const LEFT_OUT = "more is left out here, since the tool has sensitive arguments";

/** Arguments that cannot be parsed may have the values anywhere in them. */
function sealedWhole(
  proposal: ProposalInput,
  keyId: string,
  policy: CompiledPolicy,
  { reason, message }: EnvelopeRejection,
): ProposalInput {
  const { arguments: raw } = proposal;
  const isSealed = policy.sealing.recorded && looksSealed(raw);
  const text = typeof raw === "string" ? raw : sha256Hex("callgate.raw/1", raw);
  const whole = isSealed ? text : policy.sealing.digest(keyId, proposal.tenantId, text);
  // The parser's message quotes the text that it failed on; these messages do not.
  const isOfRecord = REASONS[reason].keepsNoState === true;
  const quotes = proposal.rejected !== null && !isOfRecord && !isSealed;
  const said = quotes ? `the proposal cannot be read; ${LEFT_OUT}` : message;
  return {
    ...proposal,
    arguments: whole,
    assistantText: null,
    rejected: { reason, message: said },
    clear: null,
  };
}

export interface SealOwner {
  readonly keyId: string;
  readonly tenantId: string;
}

export interface SealedArguments {
  readonly value: JsonObject;
  /** Canonical JSON of the value. */
  readonly text: string;
  /** The sealed values, in the order in which they were found. */
  readonly sensitiveValues: readonly SensitiveValue[];
  /** Values that were digests already. */
  readonly digests: readonly SensitiveValue[];
}

export function sealArguments(
  args: JsonObject,
  paths: readonly SensitivePath[],
  { keyId, tenantId }: SealOwner,
  { sealing }: CompiledPolicy,
): SealedArguments {
  const sensitiveValues: SensitiveValue[] = [];
  const digests: SensitiveValue[] = [];
  const value = replaceSensitive(args, paths, (sensitive) => {
    const isDone = sealing.recorded && looksSealed(sensitive.value);
    (isDone ? digests : sensitiveValues).push(sensitive);
    if (isDone) return sensitive.value;
    return sealing.digest(keyId, tenantId, canonicalText(sensitive.value));
  });
  return { value, text: canonicalText(value), sensitiveValues, digests };
}

/**
 * Seals what normalizers made of the arguments as the arguments were sealed, for the identity of
 * the call.
 */
export function identitySeal(
  { keyId, paths }: ClearArguments,
  tenantId: string,
  policy: CompiledPolicy,
): SealArguments {
  const { recorded } = policy.sealing;
  return {
    seal: (args) => sealArguments(args, paths, { keyId, tenantId }, policy).value,
    isDone: (value) => recorded && looksSealed(value),
  };
}

const NONE_SEALED: readonly SealedValue[] = [];

/** The sensitive values of a call that may run, each sealed for its path. */
export function sealValues(
  { tenantId, decisionId }: Pick<Decision, "tenantId" | "decisionId">,
  clear: ClearArguments | null | undefined,
  policy: CompiledPolicy,
): readonly SealedValue[] {
  if (clear === null || clear === undefined || clear.sensitiveValues.length === 0)
    return NONE_SEALED;
  const { keyId } = clear;
  return clear.sensitiveValues.map(({ keys, value }) => {
    const path = pointerOf(keys);
    const sealPath: SealPath = [tenantId, decisionId, path];
    return { path, keyId, ...policy.sealing.seal(keyId, sealPath, canonicalText(value)) };
  });
}

/**
 * A sealed proposal that may be written: the model's text is left out, since it may spell the
 * values in any way.
 */
export function withoutClear(proposal: ProposalInput): ProposalInput {
  if (proposal.clear === undefined) return proposal;
  const { clear: _clear, ...written } = proposal;
  return { ...written, assistantText: null };
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/**
 * Problems without sensitive values. A problem inside a sensitive value is reported for the value
 * as a whole, because its path contains names from inside. A value that is a digest already was not
 * validated again: the recorded problems count.
 */
export function redactProblems<P extends Problem>(
  problems: readonly P[],
  { sensitiveValues, digests, recordedProblems = [] }: ClearArguments,
): readonly (P | Problem)[] {
  const outer = pathsOf(sensitiveValues);
  const recorded = pathsOf(digests);
  const isOfDigest = ({ path }: Problem): boolean => outside(path, recorded) !== undefined;
  const now = problems.filter((problem) => !isOfDigest(problem));
  return [
    ...now.map((problem) => ({ ...problem, path: outside(problem.path, outer) ?? problem.path })),
    ...recordedProblems.filter(isOfDigest),
  ];
}

function pathsOf(values: readonly SensitiveValue[]): readonly string[] {
  return values.map(({ keys }) => keys.reduce(jsonMember, "$"));
}

/** The path among `outer` that is, or is an ancestor of, `path`. */
function outside(path: string, outer: readonly string[]): string | undefined {
  return outer.find(
    (one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`),
  );
}
