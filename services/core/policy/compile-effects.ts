/** Declared effects and reads of a tool, as resource templates. */

import type { OnFailure } from "../events.ts";
import type { AliasRewrite } from "./compile-aliases.ts";
import type { CompileProblem } from "./compile-identity.ts";
import { findMakerProblem } from "./compile-makers.ts";
import type { CompiledEffect, ResourceTemplate } from "./compiled.ts";
import type { DeclaredEffect, EffectKind, PolicyDocument, ToolDocument } from "./document.ts";
import { type PathSegment, policyPath } from "./path.ts";
import { isOfResult } from "./pending-resource.ts";
import { compileResource, shorthandResource } from "./resource.ts";

const EXCLUSIVE: ReadonlySet<EffectKind> = new Set([
  "create",
  "charge",
  "transfer",
  "delete",
  "send",
]);

const NOT_DECLARED: ResourceTemplate = () => null;

/** Where the policy does not say, the kind decides whether the effect may happen only once. */
export function isExclusive({ exclusive, kind }: DeclaredEffect): boolean {
  return exclusive ?? EXCLUSIVE.has(kind);
}

/**
 * Money and messages that may already be gone: another attempt by other means needs a look first.
 */
const CONFLICT_ON_FAILURE: ReadonlySet<EffectKind> = new Set(["charge", "transfer", "send"]);

function onFailureOf(kind: EffectKind): OnFailure {
  return CONFLICT_ON_FAILURE.has(kind) ? "conflict" : "warn";
}

export function compileEffects(
  tool: ToolDocument,
  document: PolicyDocument,
  at: readonly PathSegment[],
  aliased: AliasRewrite,
  problems: CompileProblem[],
): CompiledEffect[] {
  const effects: CompiledEffect[] = [];
  (tool.effects ?? []).forEach((effect, index) => {
    const path = policyPath([...at, "effects", index]);
    const resource = compileResource(aliased(effect.resource));
    if (!resource.ok) {
      problems.push({ path: `${path}.resource`, message: resource.problem });
      return;
    }
    const exclusive = isExclusive(effect);
    const maker = findMakerProblem(document, effect, aliased(effect.resource), exclusive);
    if (maker !== null) problems.push({ path: `${path}.of`, message: maker });
    const unfit = findScopeProblem(effect, exclusive, resource, tool);
    if (unfit !== null) problems.push({ path: `${path}.scope`, message: unfit });
    if (effect.kind === "read") return;
    const { template, byResult, placeholders } = resource;
    const argumentNames = placeholders.filter((name) => !isOfResult(name));
    const { kind } = effect;
    const onFailure = effect.on_failure ?? onFailureOf(kind);
    effects.push({
      kind,
      exclusive,
      onFailure,
      rule: path,
      resource: template,
      arguments: argumentNames,
      byResult,
      madeBy: effect.of ?? null,
      tenantWide: effect.scope === "tenant",
    });
  });
  if (tool.side_effect_resource !== undefined) {
    effects.push({
      kind: "custom",
      exclusive: true,
      onFailure: onFailureOf("custom"),
      rule: policyPath([...at, "side_effect_resource"]),
      resource: shorthandResource(tool.side_effect_resource),
      arguments: [],
      byResult: false,
      madeBy: null,
      tenantWide: false,
    });
  }
  return effects;
}

/**
 * Why the effect cannot happen once in all conversations; null: it can, or is not declared so. Every conversation
 * must give the thing the same name, before the call runs.
 */
function findScopeProblem(
  { scope, of, kind }: DeclaredEffect,
  exclusive: boolean,
  {
    byResult,
    placeholders,
  }: { readonly byResult: boolean; readonly placeholders: readonly string[] },
  { sensitive = [] }: ToolDocument,
): string | null {
  if (scope !== "tenant") return null;
  if (!exclusive || kind === "read") {
    return "`scope: tenant` is for an effect that happens once: write `exclusive: true`, or leave out `scope`";
  }
  if (of !== undefined) {
    return "`scope: tenant` does not go with `of`: what a call made is known in its own conversation alone";
  }
  if (byResult) {
    return "`scope: tenant` does not go with `{result.…}`: the resource must have its name before the call runs";
  }
  const hidden = placeholders.find((name) => sensitive.some((text) => areNested(name, text)));
  if (hidden === undefined) return null;
  return `\`scope: tenant\` does not go with the sensitive argument \`${hidden}\`: conversations may seal it with different secrets`;
}

function areNested(placeholder: string, path: string): boolean {
  const name = placeholder.replaceAll("[]", "");
  return name === path || name.startsWith(`${path}.`) || path.startsWith(`${name}.`);
}

/**
 * Resources that the tool reads: `reads`, and effects of kind `read`. Null: none declared. A
 * resource that only the result would name counts as undeclared: the output may depend on anything
 * that chose it.
 */
export function compileReads(
  tool: ToolDocument,
  at: readonly PathSegment[],
  aliased: AliasRewrite,
  problems: CompileProblem[],
): ResourceTemplate[] | null {
  const readEffects = (tool.effects ?? []).filter((effect) => effect.kind === "read");
  const texts = [...(tool.reads ?? []), ...readEffects.map((effect) => effect.resource)];
  if (texts.length === 0) return null;
  const templates: ResourceTemplate[] = [];
  texts.forEach((text, index) => {
    const compiled = compileResource(aliased(text));
    if (compiled.ok) templates.push(compiled.byResult ? NOT_DECLARED : compiled.template);
    else {
      const path = policyPath([...at, "reads", index]);
      problems.push({ path, message: compiled.problem });
    }
  });
  return templates;
}
