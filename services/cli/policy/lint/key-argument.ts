/**
 * Uses of the argument that carries the idempotency key, which the gate removes from a call and
 * overwrites.
 */
import { commandArgument } from "../../../core/policy/command-argument.ts";
import type { ToolDocument } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import type { LintRule, Report } from "./finding.ts";
import { PLACEHOLDER } from "./resources.ts";

export const lintKeyArgument: LintRule = (document, report) => {
  for (const [name, tool] of Object.entries(document.tool_schemas ?? {})) {
    if (tool.idempotency_argument === undefined) continue;
    lintVariants(name, tool, tool.idempotency_argument, report);
    lintResources(name, tool, tool.idempotency_argument, report);
  }
};

function lintVariants(name: string, tool: ToolDocument, key: string, report: Report): void {
  const { variants, commands } = tool;
  const chosenBy = commands === undefined ? variants?.argument : commandArgument(commands);
  if (chosenBy === undefined || !areOne(chosenBy, key)) return;
  const message = `\`${key}\` says what a call of \`${name}\` does, and the idempotency key overwrites it`;
  const remedy = "name the argument in which the tool looks for its key";
  report("error", "key-argument", ["tool_schemas", name, "idempotency_argument"], message, remedy);
}

function lintResources(name: string, tool: ToolDocument, key: string, report: Report): void {
  const base = ["tool_schemas", name];
  const checkPlaceholders = (
    resource: string,
    path: readonly PathSegment[],
    outcome: string,
  ): void => {
    for (const [, written = ""] of resource.matchAll(PLACEHOLDER)) {
      if (!isInside(written.trim(), key)) continue;
      const message = `\`${written.trim()}\` carries the idempotency key, which is no part of what a call is about: ${outcome}`;
      report(
        "error",
        "key-argument",
        path,
        message,
        "name what the call acts on by other arguments",
      );
    }
  };
  (tool.effects ?? []).forEach(({ resource }, at) => {
    checkPlaceholders(
      resource,
      [...base, "effects", at],
      "the resource is never named, and an exclusive effect refuses every call",
    );
  });
  (tool.reads ?? []).forEach((resource, at) => {
    checkPlaceholders(resource, [...base, "reads", at], "the resource is never named");
  });
}

function areOne(one: string, other: string): boolean {
  return isInside(one, other) || isInside(other, one);
}

function isInside(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`);
}
