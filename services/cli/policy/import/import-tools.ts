/** Converts tool definitions of other formats into a policy that declares those tools. */
import { createJsonSchemaCompiler } from "../../../adapters/json-schema/compile-json-schema.ts";
import { compilePattern } from "../../../adapters/patterns/compile-pattern.ts";
import { loadPolicy } from "../../../adapters/policy/load.ts";
import { LIMITS } from "../../../core/limits.ts";
import type { ToolDocument } from "../../../core/policy/document.ts";
import type { PolicyProblem } from "../../../core/policy/problem.ts";
import { printable } from "../../output/text.ts";
import type { ToolGuess } from "./guess/guess-tool.ts";
import { guessTools } from "./guess/guess-tools.ts";
import { mergeDefinitions, type RepairedDefinition } from "./merge-definitions.ts";
import { readOpenapi } from "./openapi.ts";
import { type DefaultAction, type ImportedTool, policyText } from "./policy-text.ts";
import { repairSchema } from "./repair-schema.ts";
import { type SourceDefinitions, separateNames } from "./separate-names.ts";
import {
  type AddNote,
  type ImportNote,
  isMap,
  type ReadDefinitions,
  type ToolDefinition,
} from "./tool-definition.ts";
import { readAnthropic, readMcp, readOpenai, readTools } from "./tool-lists.ts";

/** The parsed definitions of one file, server or program. */
export type ImportSource = {
  /** For messages, and to tell tools of one name apart. */
  readonly name: string;
  readonly json: unknown;
  /** Default: that of the import. */
  readonly format?: ImportFormat;
};

export type ImportOptions = {
  /** Whether annotations of the MCP server may make a tool a read. Default false. */
  readonly trusted?: boolean;
  /** What happens to writes that no tier names. Default: `allow`. */
  readonly defaultAction?: DefaultAction;
  /** What a person says of tools that the definitions leave open: whether each reads. */
  readonly reads?: ReadonlyMap<string, boolean>;
  /** Writes only what the definitions declare, and guesses nothing. Default false. */
  readonly declaredOnly?: boolean;
  /** Where editors find the policy's schema; written into the first line. */
  readonly schemaPath?: string;
};

export type ImportResult =
  | {
      readonly ok: true;
      readonly yaml: string;
      readonly notes: readonly ImportNote[];
      /** Tools that may be reads, and count as writes. */
      readonly questions: readonly { readonly tool: string; readonly reason: string }[];
    }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

const FORMATS = {
  tools: readTools,
  mcp: readMcp,
  openai: readOpenai,
  anthropic: readAnthropic,
  openapi: readOpenapi,
};

export type ImportFormat = keyof typeof FORMATS;

/**
 * Makes one policy of all sources. What the definitions leave open is guessed from names,
 * descriptions and schemas, with a comment. A tool with several definitions in one source becomes one
 * entry; tools of one name in several sources have the source's name before theirs. Returns a valid
 * policy with at least one tool, or none: a policy without tools would allow every tool that it was
 * meant to describe.
 */
export function importTools(
  sources: readonly ImportSource[],
  formatElse: ImportFormat,
  options: ImportOptions = {},
): ImportResult {
  const isRecorded = sources.every(({ format: own = formatElse }) => own === "tools");
  const format = isRecorded ? "tools" : formatElse;
  const notes: ImportNote[] = [];
  const note: AddNote = (tool, path, message) => notes.push({ tool, path, message });
  const all = readAll(sources, format, options.trusted ?? false, note);
  if ("problems" in all) return { ok: false, problems: all.problems };
  const declaredOnly = options.declaredOnly === true;
  const answers = all.definitions.map((one) => answered(one, options.reads));
  const definitions = declaredOnly ? answers.map(byMethod) : answers;
  const guesses = declaredOnly ? NO_GUESSES : guessTools(definitions);
  const tools: ImportedTool[] = [];
  for (const [name, group] of groupByName(definitions, note)) {
    const repairedAll = group.map((definition) => repaired(definition, format, note));
    const merged = mergeDefinitions(repairedAll);
    const guess = isOpen(merged, format) ? (guesses.get(name) ?? null) : null;
    noteOpenEnds(merged, { definitions: group.length, guess }, note);
    tools.push({ name, guess, entry: toolEntry(compilable(merged, note), guess, isRecorded) });
  }
  if (tools.length === 0) return { ok: false, problems: [nothingIn(sources, notes)] };
  const yaml = policyText(tools, { ...options, isRecorded });
  const loaded = loadPolicy([{ name: "imported policy", text: yaml }]);
  return loaded.ok ? { ok: true, yaml, notes, questions: questionsOf(tools) } : loaded;
}

function answered(
  definition: ToolDefinition,
  reads: ReadonlyMap<string, boolean> = new Map(),
): ToolDefinition {
  const answer = reads.get(definition.name);
  return answer === undefined ? definition : { ...definition, readOnly: answer };
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["get", "head", "options"]);

/** HTTP declares which methods read. */
function byMethod(definition: ToolDefinition): ToolDefinition {
  const { method } = definition;
  return method === null ? definition : { ...definition, readOnly: SAFE_METHODS.has(method) };
}

function questionsOf(tools: readonly ImportedTool[]) {
  return tools.flatMap(({ name, guess }) =>
    guess?.access.confidence === "unsure" ? [{ tool: name, reason: guess.access.reason }] : [],
  );
}

function readAll(
  sources: readonly ImportSource[],
  format: ImportFormat,
  trusted: boolean,
  note: AddNote,
): { readonly definitions: readonly ToolDefinition[] } | { readonly problems: PolicyProblem[] } {
  const lists: SourceDefinitions[] = [];
  const problems: PolicyProblem[] = [];
  for (const { name, json, format: own } of sources) {
    const readDefinitions: ReadDefinitions = FORMATS[own ?? format];
    const result = readDefinitions(json, { trusted }, note);
    if ("problem" in result) {
      problems.push(problemIn(name, result.problem));
    } else lists.push({ name, definitions: result });
  }
  return problems.length > 0 ? { problems } : { definitions: separateNames(lists, note) };
}

function problemIn(file: string, message: string): PolicyProblem {
  return { file, line: 0, column: 0, path: "", message, remedy: "check the file and --format" };
}

const WHY_CHARACTERS = 200;

function nothingIn(sources: readonly ImportSource[], notes: readonly ImportNote[]): PolicyProblem {
  const [first] = notes;
  const why = first === undefined ? "" : ` (${first.tool}: ${first.message})`;
  const message = `no tool is left for the policy${printable(why, WHY_CHARACTERS)}`;
  return problemIn(sources.map(({ name }) => name).join(", "), message);
}

const TOOL_NAME = /^[\x20-\x7e]+$/;

function groupByName(
  definitions: readonly ToolDefinition[],
  note: AddNote,
): ReadonlyMap<string, readonly ToolDefinition[]> {
  const groups = new Map<string, ToolDefinition[]>();
  for (const definition of definitions) {
    const { name } = definition;
    if (!TOOL_NAME.test(name) || name.length > LIMITS.toolNameLength || name === "__proto__") {
      note(name, "$.name", "is not a name that a call can have: left out, so it is refused");
      continue;
    }
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [definition]);
    else group.push(definition);
  }
  return groups;
}

/**
 * If schemas are documentation, defaults are dropped: a written argument must not equal an absent
 * one.
 */
function repaired(
  definition: ToolDefinition,
  format: ImportFormat,
  note: AddNote,
): RepairedDefinition {
  const { name } = definition;
  const schema = repairSchema(
    definition.schema,
    (path, message) => note(name, path.replace("$", "$.schema"), message),
    { defaults: format !== "tools" },
  );
  return { ...definition, schema };
}

const compileJsonSchema = createJsonSchemaCompiler(compilePattern);

/** A schema that still does not compile cannot be checked. */
function compilable(tool: RepairedDefinition, note: AddNote): RepairedDefinition {
  if (tool.schema === null) return tool;
  const compiled = compileJsonSchema(tool.schema);
  if (compiled.ok) return tool;
  note(tool.name, "$.schema", `is left out: ${compiled.problem}`);
  return { ...tool, schema: null };
}

type Seen = { readonly definitions: number; readonly guess: ToolGuess | null };

function noteOpenEnds(tool: RepairedDefinition, { definitions, guess }: Seen, note: AddNote): void {
  if (definitions > 1)
    note(tool.name, "$", `has ${definitions} definitions, joined into one entry`);
  if (languageOf(tool) !== null) {
    note(tool.name, "$", `its argument decides whether it reads or writes (${languageOf(tool)})`);
  } else if (tool.readOnly === null && (guess === null || guess.access.confidence === "unsure")) {
    note(
      tool.name,
      "$",
      "may be a read or a write: treated as a write; set `read_only` if it is a read",
    );
  }
  const properties = JSON.stringify(tool.schema ?? {});
  for (const { resource } of tool.effects) {
    for (const [, placeholder = ""] of resource.matchAll(/\{([^{}]*)\}/g)) {
      if (properties.includes(`${JSON.stringify(placeholder.split(".")[0])}:`)) continue;
      const message = `\`{${placeholder}}\` is no argument: the effect counts as undeclared`;
      note(tool.name, "$.mutates", message);
    }
  }
}

/** Whether the definition leaves something to guess. Recorded worlds say what they read and change. */
function isOpen(tool: RepairedDefinition, format: ImportFormat): boolean {
  const isSaid = tool.readOnly === true || tool.effects.length > 0;
  return languageOf(tool) === null && !(format === "tools" && isSaid);
}

const NO_GUESSES: ReadonlyMap<string, ToolGuess> = new Map();

function toolEntry(tool: RepairedDefinition, guess: ToolGuess | null, isRecorded: boolean): object {
  return {
    ...(tool.readOnly === null ? {} : { read_only: tool.readOnly }),
    ...(guess === null ? {} : writtenForm(guess.entry)),
    ...commandsOf(tool, isRecorded),
    ...(tool.risky ? { risk_level: "HIGH" } : {}),
    ...(tool.effects.length > 0 ? { effects: tool.effects } : {}),
    ...(tool.schema === null ? {} : { input_schema: tool.schema }),
  };
}

/** Normalizers as an author writes them: by name, alone or in a list. */
function writtenForm(entry: ToolDocument): object {
  const { normalizers, ...rest } = entry;
  if (normalizers === undefined) return rest;
  const written = Object.entries(normalizers).map(([name, chain]) => {
    const names = chain.map((call) => call.name);
    return [name, names.length === 1 ? names[0] : names];
  });
  return { ...rest, normalizers: Object.fromEntries(written) };
}

/** Arguments whose name says that their text is a program. */
const PROGRAMS = { command: "shell", sql: "sql" } as const;

/**
 * If the definition does not say what the tool does, and its only required argument is a program,
 * the program decides.
 */
function languageOf({ readOnly, schema }: RepairedDefinition): "shell" | "sql" | null {
  if (readOnly !== null || schema === null) return null;
  const { properties, required } = schema;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const [name] = needed.length === 1 ? needed : [];
  if (name !== "command" && name !== "sql") return null;
  const argument = isMap(properties) ? properties[name] : undefined;
  // A text from a list of choices is a name, not a program.
  const isText = isMap(argument) && argument["type"] === "string";
  return isText && argument["enum"] === undefined ? PROGRAMS[name] : null;
}

function commandsOf(tool: RepairedDefinition, isRecorded: boolean): object {
  const language = languageOf(tool);
  if (language === null) return {};
  const read = language === "sql" ? { language, argument: "sql" } : { language };
  // What is not understood may do anything: a person decides. No person answers a recording.
  return { commands: isRecorded ? read : { ...read, unclear: "hitl" } };
}
