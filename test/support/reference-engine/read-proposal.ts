// What the reference engine asks before the checks: what a proposal says, as far as it can be read.

import { canonicalText } from "../../../services/core/canonical/canonical-text.ts";
import type { JsonObject } from "../../../services/core/canonical/json-value.ts";
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import type { ExclusiveEffect, PendingEffect } from "../../../services/core/events.ts";
import { actionDigest, decisionIdOf, rawDigest } from "../../../services/core/hash.ts";
import type { ProposalInput } from "../../../services/core/inputs.ts";
import { getArgument } from "../../../services/core/policy/argument-path.ts";
import type {
  CompiledEffect,
  CompiledPolicy,
  CompiledTool,
  IdentityResult,
} from "../../../services/core/policy/compiled.ts";
import type { ReasonCode } from "../../../services/core/reasons/reasons.ts";
import type { Asked, Similar } from "./history.ts";

type CallIdentity = Extract<IdentityResult, { ok: true }>;

export type Reading =
  | { readonly ok: false; readonly reason: ReasonCode; readonly asked: Asked }
  | { readonly ok: true; readonly asked: Asked; readonly reasons: readonly ReasonCode[] };

export function readProposal(input: ProposalInput, policy: CompiledPolicy): Reading {
  const tool = policy.tool(input.tool);
  const parsed = parseCanonical(input.arguments, policy.canonicalLimits);
  const raw = unread(input, tool, parsed.ok ? parsed.text : null);
  if (input.rejected !== null) return { ok: false, reason: input.rejected.reason, asked: raw };
  if (!parsed.ok) {
    const large = parsed.code === "too_large";
    return { ok: false, reason: large ? "too_large" : "malformed", asked: raw };
  }
  const args = parsed.value;
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return { ok: false, reason: "malformed", asked: raw };
  }
  return understood(input, args as JsonObject, parsed.text, tool, policy);
}

function understood(
  input: ProposalInput,
  args: JsonObject,
  text: string,
  tool: CompiledTool,
  policy: CompiledPolicy,
): Reading {
  const reasons: ReasonCode[] = [];
  const isRefused = policy.unknownTools === "deny" || tool.likeTool !== null;
  if (isRefused && !tool.isDeclared) reasons.push("unknown_tool");
  const identity = tool.identity(args, text);
  const invalid = (tool.validate?.(args) ?? []).length > 0 || !identity.ok;
  const callIdentity: CallIdentity = identity.ok
    ? identity
    : { ok: true, text, normalized: args, fields: null };
  const effects = identity.ok
    ? tool.effects.flatMap((effect) =>
        listNames(effect.resource(callIdentity)).map((resource) => ({ effect, resource })),
      )
    : [];
  const nameless = effects.some(({ effect, resource }) => effect.exclusive && resource === null);
  if (invalid || nameless) reasons.push("invalid_arguments");
  const argumentsDigest = actionDigest(input.tool, text);
  const pending = effects.flatMap(({ effect, resource }): PendingEffect[] =>
    effect.byResult && resource !== null
      ? [{ ...partOf(effect), resource, exclusive: effect.exclusive }]
      : [],
  );
  const argumentEffects = effects.filter(
    ({ effect, resource }) => !effect.byResult || resource === null,
  );
  const touched = touchedBy(tool, callIdentity, argumentEffects, effects.length > 0);
  const exclusive = argumentEffects.flatMap(({ effect, resource }): ExclusiveEffect[] =>
    effect.exclusive && resource !== null
      ? [{ ...partOf(effect), resource, ancestors: null, tenantWide: false }]
      : [],
  );
  const asked: Asked = {
    input,
    decisionId: decisionIdOf(input, input.tool, argumentsDigest),
    argumentsDigest,
    tool,
    actionKey: actionDigest(input.tool, callIdentity.text),
    resources: touched,
    shows: (resource) => touched?.some((own) => hangTogether(policy, own, resource)) ?? true,
    touched,
    exclusive,
    pending,
    similar: identity.ok ? similarOf(tool, callIdentity) : [],
  };
  return { ok: true, asked, reasons };
}

function similarOf(tool: CompiledTool, { normalized }: CallIdentity): Similar[] {
  return tool.similarity.flatMap(({ field, threshold, with: equal }, at) => {
    const value = getArgument(normalized, field);
    if (value === undefined || value === null) return [];
    const values = equal.map((path) => getArgument(normalized, path) ?? null);
    const text = typeof value === "string" ? value : canonicalText(value);
    return [{ key: JSON.stringify([tool.name, at, values]), text, threshold }];
  });
}

function touchedBy(
  tool: CompiledTool,
  identity: CallIdentity,
  argumentEffects: readonly { readonly resource: string | null }[],
  hasEffects: boolean,
): readonly string[] | null {
  const declared = tool.isRead
    ? (tool.reads ?? []).flatMap((read) => listNames(read(identity)))
    : argumentEffects.map(({ resource }) => resource);
  if (!(tool.isRead ? declared.length > 0 : hasEffects) || declared.includes(null)) return null;
  return declared as readonly string[];
}

/** One resource, one for each element of a list, or none. */
function listNames(names: string | readonly string[] | null): readonly (string | null)[] {
  return names === null || typeof names === "string" ? [names] : names;
}

/** Whether they are one resource, one contains the other, or both name one thing. */
function hangTogether({ graph }: CompiledPolicy, a: string, b: string): boolean {
  if (a === b || graph.equalsOf(a).includes(b)) return true;
  return graph.listAncestors(a).includes(b) || graph.listAncestors(b).includes(a);
}

function unread(input: ProposalInput, tool: CompiledTool, text: string | null): Asked {
  const argumentsDigest =
    text === null ? rawDigest(input.tool, input.arguments) : actionDigest(input.tool, text);
  const decisionId = decisionIdOf(input, input.tool, argumentsDigest);
  return {
    input,
    decisionId,
    argumentsDigest,
    tool,
    actionKey: "",
    resources: null,
    shows: () => true,
    touched: null,
    exclusive: [],
    pending: [],
    similar: [],
  };
}

function partOf({ kind, rule, onFailure }: CompiledEffect) {
  return { kind, rule, onFailure };
}
