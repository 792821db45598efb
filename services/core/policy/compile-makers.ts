/** `of`: the tool whose calls make the thing that an effect is on. */
import { aliasesOf } from "./compile-aliases.ts";
import type { DeclaredEffect, EffectKind, PolicyDocument, VariantKeys } from "./document.ts";
import { isListPath } from "./list-path.ts";
import { isOfResult } from "./pending-resource.ts";
import { isContained } from "./resource-graph.ts";

/** Equal things may be made and removed again and again; what is done once to each of them may not. */
const UNFIT: ReadonlySet<EffectKind> = new Set(["create", "delete", "read"]);

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** `resource`: the effect's own, with aliases applied; null: the maker is declared as it must be. */
export function findMakerProblem(
  document: PolicyDocument,
  { of: maker, kind }: DeclaredEffect,
  resource: string,
  exclusive: boolean,
): string | null {
  if (maker === undefined) return null;
  if (UNFIT.has(kind)) {
    return `\`of\` does not go with \`kind: ${kind}\`: an equal thing may be made, or removed, again`;
  }
  if (!exclusive)
    return "`of` is for an effect that happens once: leave out `exclusive: false`, or `of`";
  const entry = document.tool_schemas?.[maker];
  if (entry === undefined) return `\`of: ${maker}\` is no tool in \`tool_schemas\``;
  const rewrite = aliasesOf(document.aliases, maker);
  const made = listEffects(entry)
    .filter((effect) => namesOne(effect))
    .map((effect) => shapeOf(rewrite(effect.resource)));
  const own = shapeOf(resource);
  if (made.some((thing) => own === thing || isContained(own, thing))) return null;
  const example = `${own.split("/")[0]}/{result.id}`;
  return `\`of: ${maker}\` needs an exclusive effect of \`${maker}\` on what \`${resource}\` is in, named by its result: \`{ resource: "${example}", kind: create }\``;
}

function listEffects({
  effects = [],
  variants,
  commands,
}: {
  readonly effects?: readonly DeclaredEffect[];
  readonly variants?: { readonly rules?: readonly VariantKeys[]; readonly otherwise?: VariantKeys };
  readonly commands?: { readonly rules?: readonly VariantKeys[] };
}): readonly DeclaredEffect[] {
  const keys = [...(variants?.rules ?? []), variants?.otherwise ?? {}, ...(commands?.rules ?? [])];
  return [...effects, ...keys.flatMap((key) => key.effects ?? [])];
}

/** Of a batch, whose call makes many things, no argument says which of them an id is. */
function namesOne(effect: DeclaredEffect): boolean {
  const names = [...effect.resource.matchAll(PLACEHOLDER)].map(([, name = ""]) => name.trim());
  return names.some(isOfResult) && !names.some(isListPath) && effect.exclusive !== false;
}

function shapeOf(resource: string): string {
  return resource.replace(PLACEHOLDER, "{}");
}
