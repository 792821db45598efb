/** Guesses what a policy may say about one tool. */
import { asksUser } from "../../../../core/policy/asks-user.ts";
import type { ToolDocument } from "../../../../core/policy/document.ts";
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

/** @param words of the name, without its service's prefix */
export function guessTool(tool: ToolDefinition, words: readonly string[]): ToolGuess {
  const access = guessAccess(tool, words);
  const parameters = parametersOf(tool.schema);
  if (access.isRead) {
    const entry = asksUser(tool.name, {}) ? { asks_user: true } : readEntry(words);
    return { access, write: null, danger: null, entry };
  }
  const write = guessClass(words);
  const danger = dangerOf(write, tool);
  return { access, write, danger, entry: writeEntry(tool, write, parameters) };
}

function readEntry(words: readonly string[]): ToolDocument {
  const last = words.at(-1) ?? "";
  if (last === "status" || last === "progress" || words[0] === "wait" || words[0] === "poll") {
    return { read_only: true, polling: { max_calls: POLLS_MAX } };
  }
  if (POLLED_NOUNS.has(last) && words[0] === "track") {
    return { read_only: true, polling: { max_calls: POLLS_MAX } };
  }
  return VOLATILE_NOUNS.has(last) ? { read_only: true, volatile: true } : { read_only: true };
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
    ...windowOf(write),
    ...(write.kind === "touch" ? { repeatable: true } : {}),
  };
}

function windowOf({ kind }: WriteGuess): ToolDocument {
  if (kind === "charge") return { dedupe_window_s: MONEY_WINDOW_S };
  return kind === "send" || kind === "create" ? { dedupe_window_s: MADE_WINDOW_S } : {};
}

/** All arguments but those that only explain; null: all. */
function identityOf(
  { kind }: WriteGuess,
  parameters: readonly Parameter[],
): readonly string[] | null {
  if (kind !== "charge" && kind !== "delete" && kind !== "grant") return null;
  const fields = parameters.filter(({ role }) => role !== "note" && role !== "key");
  const isLess = parameters.some(({ role }) => role === "note");
  return isLess && fields.some(({ isRequired }) => isRequired) ? fields.map(({ name }) => name) : null;
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
