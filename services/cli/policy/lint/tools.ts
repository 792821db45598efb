/** Tools: declarations without effect, or that say less than they seem to. */
import { compilePattern } from "../../../adapters/patterns/compile-pattern.ts";
import { commandArgument } from "../../../core/policy/command-argument.ts";
import type { PolicyDocument, PolicyTier, ToolDocument } from "../../../core/policy/document.ts";
import { isOfResult } from "../../../core/policy/pending-resource.ts";
import type { LintRule, Report } from "./finding.ts";
import { PLACEHOLDER } from "./resources.ts";
import { matcherOf } from "./tiers.ts";

export const lintTools: LintRule = (document, report) => {
  for (const [name, tool] of Object.entries(document.tool_schemas ?? {})) {
    lintTier(document, name, tool, report);
    lintArguments(name, tool, report);
    lintSensitive(name, tool, report);
    lintSuggestions(document, name, tool, report);
    lintIdleKeys(document, name, tool, report);
    lintErrorPatterns(name, tool, report);
    lintVariants(name, tool, report);
  }
};

function tierOf(document: PolicyDocument, name: string): PolicyTier | undefined {
  return (document.authorization?.tiers ?? []).find((tier) => matcherOf(tier)(name));
}

function lintTier(
  document: PolicyDocument,
  name: string,
  tool: ToolDocument,
  report: Report,
): void {
  const path = ["tool_schemas", name];
  const tier = tierOf(document, name);
  if (tier?.action !== "allowlist" || tier.when !== undefined || declaresItsClass(tool)) return;
  const message = `\`${name}\` counts as a read only because the tier \`${tier.name}\` allows it`;
  report("warning", "read-by-tier", path, message, "write `read_only: true` or `false`");
}

function declaresItsClass(tool: ToolDocument): boolean {
  const { read_only, reads, polling, volatile, effects, side_effect_resource, variants, commands } =
    tool;
  if (tool.risk_level !== undefined && tool.risk_level !== "LOW") return true;
  if (volatile === true) return true;
  const said = [read_only, reads, polling, effects, side_effect_resource, variants, commands];
  return said.some((key) => key !== undefined);
}

type Schema = Readonly<Record<string, unknown>>;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Argument names that a schema lists, or null if it allows others. */
function argumentsOf({ input_schema }: ToolDocument): ReadonlySet<string> | null {
  return isSchema(input_schema) ? membersOf(input_schema) : null;
}

function membersOf(schema: Schema): ReadonlySet<string> | null {
  const properties = schema["properties"];
  if (!isSchema(properties)) return null;
  const open = ["$ref", "anyOf", "oneOf", "allOf", "patternProperties", "additionalProperties"];
  if (open.some((key) => schema[key] !== undefined && schema[key] !== false)) return null;
  return new Set(Object.keys(properties));
}

function lintArguments(name: string, tool: ToolDocument, report: Report): void {
  const declaredArguments = argumentsOf(tool);
  const isDeclared = (argument: string): boolean =>
    declaredArguments === null ||
    declaredArguments.has(argument) ||
    declaredArguments.has(argument.split(".")[0] ?? "");
  const base = ["tool_schemas", name];
  (tool.canonical_fields ?? []).forEach((field, index, all) => {
    if (all.indexOf(field) === index) return;
    const path = [...base, "canonical_fields", index];
    report("warning", "duplicate-field", path, `\`${field}\` is named twice`, "remove one");
  });
  const { variants, commands } = tool;
  const chosenBy = commands === undefined ? variants?.argument : commandArgument(commands);
  if (chosenBy !== undefined && !isDeclared(chosenBy)) {
    const message = `\`${chosenBy}\`, which says what a call of \`${name}\` does, is not an argument in its schema: no rule ever matches a call`;
    const remedy = "write `argument` as the schema has it";
    const key = commands === undefined ? "variants" : "commands";
    report("error", "unknown-argument", [...base, key], message, remedy);
  }
  lintKeyArgument(name, tool, report);
  const templates = [
    ...(tool.effects ?? []).map((effect, at) => ["effects", at, effect.resource] as const),
    ...(tool.reads ?? []).map((resource, at) => ["reads", at, resource] as const),
  ];
  for (const [key, at, resource] of templates) {
    const placeholders = [...resource.matchAll(PLACEHOLDER)].map(([, one = ""]) => one.trim());
    if (placeholders.some(isOfResult)) {
      lintByResult(tool, key, resource, [...base, key, at], report);
    }
  }
}

/** Every step of the path to the key must be an object that has the next one. */
function lintKeyArgument(name: string, tool: ToolDocument, report: Report): void {
  const path = tool.idempotency_argument;
  const steps = path?.split(".") ?? [];
  let schema: unknown = tool.input_schema;
  for (const [at, step] of steps.entries()) {
    if (!isSchema(schema)) return;
    const where = ["tool_schemas", name, "idempotency_argument"];
    const types = [schema["type"] ?? "object"].flat();
    if (at > 0 && !types.includes("object")) {
      const holder = steps.slice(0, at).join(".");
      const message = `\`${holder}\` on the way to \`${path}\` is not an object in the schema of \`${name}\`: it cannot hold the key`;
      report("error", "unknown-argument", where, message, "correct the path, or the schema");
      return;
    }
    if (membersOf(schema)?.has(step) === false) {
      const message = `\`${path}\` in \`idempotency_argument\` is not an argument in the schema of \`${name}\``;
      report("warning", "unknown-argument", where, message, "correct the name, or the schema");
      return;
    }
    schema = isSchema(schema["properties"]) ? schema["properties"][step] : undefined;
  }
  if (path !== undefined && isSchema(schema)) lintKeySchema(name, path, schema, report);
}

/** Characters of the gate's key (docs/executor-protocol.md). */
const KEY_LENGTH = 43;

/** A tool that checks its arguments by the schema would refuse the key. */
function lintKeySchema(name: string, path: string, schema: Schema, report: Report): void {
  const { type, format, pattern, maxLength } = schema;
  const types = [type ?? "string"].flat();
  const isShort = typeof maxLength === "number" && maxLength < KEY_LENGTH;
  const takesKey = types.includes("string") && format === undefined && pattern === undefined;
  if (takesKey && !isShort && schema["enum"] === undefined && schema["const"] === undefined) return;
  const message = `the schema of \`${path}\` may not take the key, which is a text of ${KEY_LENGTH} letters, digits, \`-\` and \`_\``;
  const remedy = "name an argument that takes any text, or relax its schema";
  report(
    "warning",
    "key-argument",
    ["tool_schemas", name, "idempotency_argument"],
    message,
    remedy,
  );
}

/** Resource names that no result supplies in time, or at all. */
function lintByResult(
  tool: ToolDocument,
  key: "effects" | "reads",
  resource: string,
  path: readonly (string | number)[],
  report: Report,
): void {
  if (key === "reads") {
    const message = `\`${resource}\` is known too late: a repeat runs again after any write`;
    report("info", "named-too-late", path, message, "name what is read by the arguments");
  } else if (tool.empty_output === true) {
    const message = `\`${resource}\` is never named: \`empty_output\` says that results have no parts`;
    report("warning", "never-named", path, message, "remove one of the two");
  }
}

/** A name that no call has protects nothing, and the real value is stored in clear text. */
function lintSensitive(name: string, tool: ToolDocument, report: Report): void {
  const declaredArguments = argumentsOf(tool);
  const base = ["tool_schemas", name];
  const hidden = tool.sensitive ?? [];
  hidden.forEach((field, index) => {
    if (
      declaredArguments === null ||
      declaredArguments.has(field) ||
      declaredArguments.has(field.split(".")[0] ?? "")
    )
      return;
    const message = `\`${field}\` in \`sensitive\` is not an argument in the schema of \`${name}\`: nothing is hidden`;
    const remedy = "correct the name, or the schema";
    report("error", "unknown-argument", [...base, "sensitive", index], message, remedy);
  });
  (tool.similarity ?? []).forEach(({ field }, index) => {
    if (!hidden.some((one) => field === one || field.startsWith(`${one}.`))) return;
    const message = `\`${field}\` is sensitive: only digests are compared, which are either equal or unrelated`;
    const path = [...base, "similarity", index, "field"];
    report("warning", "idle-key", path, message, "remove it; equal values are duplicates anyway");
  });
}

function lintSuggestions(
  document: PolicyDocument,
  name: string,
  tool: ToolDocument,
  report: Report,
): void {
  (tool.suggest ?? []).forEach((suggested, index) => {
    const path = ["tool_schemas", name, "suggest", index];
    const tier = tierOf(document, suggested);
    const isInPolicy = Object.hasOwn(document.tool_schemas ?? {}, suggested) || tier !== undefined;
    if (!isInPolicy) {
      const message = `\`${suggested}\` is not a tool of this policy and is never suggested`;
      report("warning", "unknown-suggestion", path, message, "declare it, or remove it");
    } else if (tier?.action === "deny" && tier.when === undefined) {
      const message = `\`${suggested}\` is denied by the tier \`${tier.name}\` and is never suggested`;
      report("warning", "unknown-suggestion", path, message, "remove it");
    }
  });
}

/** Keys that have no effect beside others. */
function lintIdleKeys(
  document: PolicyDocument,
  name: string,
  tool: ToolDocument,
  report: Report,
): void {
  const idle = (key: keyof ToolDocument, why: string): void => {
    if (tool[key] === undefined) return;
    const message = `\`${key}\` does nothing here: ${why}`;
    report("warning", "idle-key", ["tool_schemas", name, key], message, "remove it");
  };
  if (document.deduplication?.strategy === "byte_hash") {
    idle("normalizers", "`strategy: byte_hash` compares arguments as they are");
    idle("canonical_fields", "`strategy: byte_hash` compares all arguments");
  }
  if (tool.volatile === true) idle("cache_ttl_s", "a volatile tool is never answered from memory");
  if (tool.polling !== undefined)
    idle("cache_ttl_s", "a polling tool is never answered from memory");
  if (tool.read_only === true) {
    idle("repeatable", "a read may be repeated anyway");
    idle("batchable", "a read may be repeated anyway");
  } else if (tool.read_only === false) {
    idle("cache_ttl_s", "only reads are answered from memory");
    idle("reads", "only reads are answered from memory");
  }
  for (const code of Object.keys(tool.checks ?? {})) {
    if (code !== "unknown_tool") continue;
    const path = ["tool_schemas", name, "checks", code];
    const message = "`unknown_tool` does nothing here: this policy declares the tool";
    report("warning", "idle-key", path, message, "set it under the policy's `checks`");
  }
}

/** Arguments whose text says what the call does, with the policy key that parses it. */
const PROGRAMS: Readonly<Record<string, string>> = {
  command: "commands: shell",
  cmd: "commands: { argument: cmd }",
  sql: "commands: { language: sql, argument: sql }",
  method: "commands: http",
  tool_name: "variants: { argument: tool_name, rules: [...] }",
};

/** One class for calls that differ; and variants that something else cancels. */
function lintVariants(name: string, tool: ToolDocument, report: Report): void {
  const path = ["tool_schemas", name];
  const isFiles = tool.commands?.language === "files";
  if (tool.variants !== undefined || (tool.commands !== undefined && !isFiles)) {
    if (tool.read_only === undefined) return;
    const key = tool.variants === undefined ? "commands" : "variants";
    const message = `\`read_only\` does nothing here: \`${key}\` decides it for each call`;
    report("warning", "idle-key", [...path, "read_only"], message, "remove it");
    return;
  }
  const argument = [...(argumentsOf(tool) ?? [])].find((one) => Object.hasOwn(PROGRAMS, one));
  if (argument === undefined || tool.read_only === true || tool.effects !== undefined) return;
  const message = `what \`${name}\` does depends on its argument \`${argument}\`, and every call counts as a write`;
  const remedy = `write \`${PROGRAMS[argument]}\``;
  report("info", "class-by-argument", path, message, remedy);
}

function lintErrorPatterns(name: string, tool: ToolDocument, report: Report): void {
  (tool.error_patterns ?? []).forEach((pattern, index) => {
    const path = ["tool_schemas", name, "error_patterns", index];
    const compiled = compilePattern(pattern);
    if (!compiled.ok) {
      report("error", "unsafe-pattern", path, compiled.problem, "rewrite the pattern");
    } else if (compiled.test("")) {
      const message = `\`${pattern}\` matches an empty output, so every call counts as failed`;
      report("error", "unsafe-pattern", path, message, "require some text, for example ^Error:");
    } else if (/^\.[*+]|\([^)]*[*+][^)]*\)[*+]/.test(pattern)) {
      const message = `\`${pattern}\` repeats more than it needs to and is slow on long outputs`;
      report(
        "warning",
        "slow-pattern",
        path,
        message,
        "drop the leading `.*` or the nested repeat",
      );
    }
  });
}

/** Whether a tool's entry makes it a read, whatever tier matches it. */
export function declaresRead(tool: ToolDocument): boolean {
  const { read_only, reads, polling, volatile, effects = [], side_effect_resource } = tool;
  if (read_only !== undefined) return read_only;
  if (side_effect_resource !== undefined) return false;
  if (effects.some(({ kind }) => kind !== "read")) return false;
  return reads !== undefined || polling !== undefined || volatile === true;
}
