/** Guesses what a policy may say about one tool. */
import { asksUser } from "../../../../core/policy/asks-user.ts";
import type { DeclaredEffect, ToolDocument } from "../../../../core/policy/document.ts";
import type { ToolDefinition } from "../tool-definition.ts";
import { descriptionOf } from "./description.ts";
import { type Access, guessAccess } from "./guess-access.ts";
import { guessClass, type WriteGuess } from "./guess-class.ts";
import { guessEffects } from "./guess-effects.ts";
import { guessNormalizers } from "./guess-normalizers.ts";
import { CONTAINERS, DESTROYS, POLLED_NOUNS, VOLATILE_NOUNS } from "./lexicon.ts";
import { type Parameter, parametersOf } from "./parameters.ts";

/** What a hold would be about: the tiers of an imported policy. */
export type Danger = "destroys" | "deletes" | "money" | "messages" | "access";

export type ToolGuess = {
  readonly access: Access;
  /** Null: a read. */
  readonly write: WriteGuess | null;
  readonly danger: Danger | null;
  /** Keys of the tool's entry in `tool_schemas`. */
  readonly entry: ToolDocument;
};

const MONEY_WINDOW_S = 86_400;
const MADE_WINDOW_S = 3_600;
const POLLS_MAX = 60;

/** What the other tools of the same list say about one of them. */
export type Surroundings = {
  /** Some of them act on a page or screen, which changes by itself. */
  readonly hasScreen: boolean;
  /** Words of all their names. */
  readonly vocabulary: ReadonlySet<string>;
};

/** @param words of the name, without its service's prefix */
export function guessTool(
  tool: ToolDefinition,
  words: readonly string[],
  around: Surroundings,
): ToolGuess {
  const access = guessAccess(tool, words);
  const parameters = parametersOf(tool.schema).map((one) => asKey(one, around));
  if (access.isRead) {
    const entry = asksUser(tool.name, {})
      ? { asks_user: true }
      : readEntry(words, parameters, around);
    return { access, write: null, danger: null, entry };
  }
  const write = guessClass(words);
  const danger = dangerOf(write, tool);
  // What is unsure is a write too, but nobody has said so.
  const said = access.confidence === "unsure" ? {} : { read_only: false };
  return { access, write, danger, entry: { ...said, ...writeEntry(tool, write, parameters) } };
}

/** A `request_id` is made for each try, unless some tool is about requests. */
function asKey(parameter: Parameter, { vocabulary }: Surroundings): Parameter {
  const isOwn = parameter.words.join(" ") === "request id" && parameter.type === "string";
  return isOwn && !vocabulary.has("request") && !vocabulary.has("requests")
    ? { ...parameter, role: "key" }
    : parameter;
}

function readEntry(
  words: readonly string[],
  parameters: readonly Parameter[],
  { hasScreen }: Surroundings,
): ToolDocument {
  if (isPolled(words, parameters)) return { read_only: true, polling: { max_calls: POLLS_MAX } };
  const isPlain = !parameters.some(({ isRequired }) => isRequired);
  const isVolatile = VOLATILE_NOUNS.has(words.at(-1) ?? "") || (hasScreen && isPlain);
  const searched = parameters.find(({ words: name }) => SEARCHED.has(name.at(-1) ?? ""));
  return {
    read_only: true,
    ...(isVolatile ? { volatile: true } : {}),
    ...(searched === undefined ? {} : searchEntry(searched)),
  };
}

/** The third way to put a question that finds the same is refused; under `balanced` others are warned of. */
function searchEntry({ name, type }: Parameter): ToolDocument {
  const similarity = type === "string" ? { similarity: [{ field: name, threshold: ALIKE }] } : {};
  return { checks: { loop_no_progress: "enforce" }, ...similarity };
}

const ALIKE = 0.3;

/** Arguments that are put in other words when a search finds nothing. */
const SEARCHED: ReadonlySet<string> = new Set([
  "query",
  "q",
  "keywords",
  "search",
  "term",
  "phrase",
]);

/** Whether the read waits for something that goes on by itself. */
function isPolled(words: readonly string[], parameters: readonly Parameter[]): boolean {
  const last = words.at(-1) ?? "";
  if (last === "status" || last === "progress") return true;
  if (words.some((word) => word === "wait" || word === "poll")) return true;
  return (
    POLLED_NOUNS.has(last) && parameters.some(({ role, isRequired }) => isRequired && role === "id")
  );
}

function writeEntry(
  { effects: declared }: ToolDefinition,
  write: WriteGuess,
  parameters: readonly Parameter[],
): ToolDocument {
  const key = parameters.find(({ role }) => role === "key");
  const effects = declared.length > 0 ? [] : guessEffects(write, parameters);
  const fields = identityOf(write, parameters);
  const normalizers = guessNormalizers(write, parameters);
  return {
    ...(fields === null ? {} : { canonical_fields: fields }),
    ...(Object.keys(normalizers).length === 0 ? {} : { normalizers }),
    ...(effects.length === 0 ? {} : { effects }),
    ...(key === undefined ? {} : { idempotency_argument: key.name }),
    ...windowOf(write, parameters, effects),
    ...(isRepeatable(write) || parameters.some(stepsOn) ? { repeatable: true } : {}),
  };
}

/** Clicks, and checks that are run again after each change. */
function isRepeatable({ kind, noun }: WriteGuess): boolean {
  return kind === "touch" || (kind === "run" && CHECKS.has(noun.split("_").at(-1) ?? ""));
}

const CHECKS: ReadonlySet<string> = new Set([
  "test",
  "lint",
  "build",
  "check",
  "suite",
  "typecheck",
]);

function windowOf(
  { kind }: WriteGuess,
  parameters: readonly Parameter[],
  effects: readonly DeclaredEffect[],
): ToolDocument {
  if (kind === "charge") {
    return { dedupe_window_s: isOnce(effects) ? MONEY_WINDOW_S : MADE_WINDOW_S };
  }
  if (kind !== "send" && kind !== "create" && kind !== "update") return {};
  // "Another three": what is counted on is asked for again in a later turn.
  if (parameters.some(isIncrement)) return { scope: "turn" };
  const isFromFile = parameters.some(({ role }) => role === "path" || role === "url");
  return kind === "update" || isFromFile ? {} : { dedupe_window_s: MADE_WINDOW_S };
}

function isOnce(effects: readonly DeclaredEffect[]): boolean {
  return effects.some(({ exclusive }) => exclusive === true);
}

const INCREMENTS: ReadonlySet<string> = new Set(
  "count delta increment by points quantity".split(" "),
);

function isIncrement({ words, type, isRequired }: Parameter): boolean {
  return (
    isRequired && (type === "integer" || type === "number") && INCREMENTS.has(words.at(-1) ?? "")
  );
}

const STEPS: ReadonlySet<unknown> = new Set(["next", "step", "continue", "undo", "redo", "scroll"]);

/** An argument that may say `next`: each such call goes on from the one before. */
function stepsOn({ schema }: Parameter): boolean {
  const { enum: choices } = schema;
  return Array.isArray(choices) && choices.some((one) => STEPS.has(one));
}

/** All arguments but those that only explain; null: all. */
function identityOf(
  { kind }: WriteGuess,
  parameters: readonly Parameter[],
): readonly string[] | null {
  if (kind !== "delete" && kind !== "grant" && kind !== "charge") return null;
  const fields = parameters.filter(({ role }) => role !== "note" && role !== "key");
  const isLess = parameters.some(({ role }) => role === "note");
  return isLess && fields.some(({ isRequired }) => isRequired)
    ? fields.map(({ name }) => name)
    : null;
}

/**
 * The classes that a person may want to decide on. `destroys` alone is held without being asked for:
 * what cannot be undone and takes along what others own.
 */
function dangerOf({ kind, verb, noun }: WriteGuess, tool: ToolDefinition): Danger | null {
  const head = noun.split("_").at(-1) ?? "";
  switch (kind) {
    case "delete":
      return DESTROYS.has(verb) || CONTAINERS.has(head) || descriptionOf(tool.description).isFinal
        ? "destroys"
        : "deletes";
    case "charge":
      return "money";
    case "send":
      return "messages";
    case "grant":
      return "access";
    case null:
    case "create":
    case "update":
    case "run":
    case "touch":
      return null;
  }
}
