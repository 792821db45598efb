/**
 * Aliases: different arguments of different tools that name one thing. `{ resource: "order/{id}", names:
 * [charge_card.order] }` lets the templates of `charge_card` say `order/{id}/payment` although its argument is
 * called `order`, so that one spelling of a resource serves all tools.
 */
import type { CompileProblem } from "./compile-identity.ts";
import type { PolicyDocument, ResourceAlias } from "./document.ts";
import { policyPath } from "./path.ts";
import { isContained } from "./resource-graph.ts";

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Rewrites a template so that a tool's own arguments fill it. */
export type AliasRewrite = (template: string) => string;

const UNCHANGED: AliasRewrite = (template) => template;

export function aliasesOf(aliases: PolicyDocument["aliases"], tool: string): AliasRewrite {
  const own = (aliases ?? []).flatMap(({ resource, names }) =>
    names
      .filter((name) => name.startsWith(`${tool}.`) && name.length > tool.length + 1)
      .map((name) => ({ resource, filled: filledWith(resource, name.slice(tool.length + 1)) })),
  );
  if (own.length === 0) return UNCHANGED;
  return (template) => {
    const alias = own.find(({ resource }) => isWithin(template, resource));
    return alias === undefined ? template : alias.filled + template.slice(alias.resource.length);
  };
}

function filledWith(resource: string, argument: string): string {
  return resource.replace(PLACEHOLDER, () => `{${argument}}`);
}

function isWithin(template: string, resource: string): boolean {
  return template === resource || isContained(template, resource);
}

/** An alias names one argument for one placeholder, of tools that the policy declares. */
export function checkAliases(document: PolicyDocument, problems: CompileProblem[]): void {
  const tools = Object.keys(document.tool_schemas ?? {});
  (document.aliases ?? []).forEach((alias, at) => {
    checkPlaceholder(alias, policyPath(["aliases", at, "resource"]), problems);
    alias.names.forEach((name, index) => {
      if (tools.some((tool) => name.startsWith(`${tool}.`) && name.length > tool.length + 1))
        return;
      const message = `\`${name}\` is no argument of a declared tool: write tool.argument`;
      problems.push({ path: policyPath(["aliases", at, "names", index]), message });
    });
  });
}

function checkPlaceholder(
  { resource }: ResourceAlias,
  path: string,
  problems: CompileProblem[],
): void {
  if ([...resource.matchAll(PLACEHOLDER)].length === 1) return;
  const message = `\`${resource}\` needs one placeholder, which each name fills: order/{id}`;
  problems.push({ path, message });
}
