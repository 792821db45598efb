/** Guesses whether a tool reads from its name, its description and its HTTP method. */
import type { ToolDefinition } from "../tool-definition.ts";
import { descriptionOf, type Description } from "./description.ts";
import { NOT_READS, READ_NOUNS, VERBS, type VerbClass, WRITES_ANYWHERE } from "./lexicon.ts";
import { singularOf } from "./split-name.ts";

export type Confidence = "sure" | "likely" | "unsure";

export type Access = {
  readonly isRead: boolean;
  readonly confidence: Confidence;
  /** In a few words, for a comment: `its name begins with get`. */
  readonly reason: string;
  /** The position of the verb among the words; null where the name has none. */
  readonly verbAt: number | null;
};

/** How many words before its verb a name may have. */
const WORDS_BEFORE_VERB_MAX = 1;

type Evidence = {
  readonly words: readonly string[];
  readonly verbAt: number | null;
  readonly verb: string;
  readonly verbClass: VerbClass | null;
  readonly description: Description;
};

/** @param words of the name, without its service's prefix */
export function guessAccess(tool: ToolDefinition, words: readonly string[]): Access {
  const verbAt = findVerb(words);
  const verb = verbAt === null ? "" : (words[verbAt] ?? "");
  const verbClass = verbAt === null ? null : (VERBS.get(verb) ?? null);
  const description = descriptionOf(tool.description);
  const evidence: Evidence = { words, verbAt, verb, verbClass, description };
  const decided = stated(tool, evidence) ?? fromName(tool, evidence) ?? fromDescription(evidence);
  return { verbAt, ...decided };
}

type Decided = Omit<Access, "verbAt">;

const write = (confidence: Confidence, reason: string): Decided => ({
  ...{ isRead: false, confidence, reason },
});
const read = (confidence: Confidence, reason: string): Decided => ({
  ...{ isRead: true, confidence, reason },
});

function findVerb(words: readonly string[]): number | null {
  const [first = ""] = words;
  if (VERBS.has(first)) return 0;
  const last = words.length - 1;
  // `file_search`, `monitor_create`, `user_get_profile`.
  for (let at = 1; at <= Math.max(last, WORDS_BEFORE_VERB_MAX); at += 1) {
    const word = words[at] ?? "";
    if (VERBS.has(word) && (at <= WORDS_BEFORE_VERB_MAX || at === last)) return at;
  }
  return null;
}

/** What the definition itself says. */
function stated({ readOnly, method }: ToolDefinition, { words }: Evidence): Decided | null {
  if (readOnly === true) return read("sure", "its definition says so");
  if (readOnly === false) return write("sure", "its definition says so");
  if (method === "get" || method === "head" || method === "options") {
    const writing = words.find((word) => WRITES_ANYWHERE.has(word));
    if (writing !== undefined) return write("unsure", `it is a GET, but its name has ${writing}`);
    return read("sure", `HTTP ${method.toUpperCase()}`);
  }
  if (method === "put" || method === "patch" || method === "delete") {
    return write("sure", `HTTP ${method.toUpperCase()}`);
  }
  return null;
}

/** Null: the name leaves it open. */
function fromName(tool: ToolDefinition, evidence: Evidence): Decided | null {
  const { words, verbAt, verb, verbClass, description } = evidence;
  const joined = words.join(" ");
  const excluded = NOT_READS.find(([pattern]) => pattern.test(joined));
  if (excluded !== undefined) return write("likely", excluded[1]);
  const writing = words.find((word) => WRITES_ANYWHERE.has(word));
  const isReadVerb = verbClass === "read" || verbClass === "likely read";
  if (writing !== undefined) {
    return isReadVerb || verbAt === null
      ? write("unsure", `its name has ${writing}`)
      : searchByPost(tool, evidence) ?? write("sure", `its name has ${writing}`);
  }
  if (!isReadVerb) return searchByPost(tool, evidence) ?? fromLastWord(evidence);
  if (description.writes !== null) {
    return write("unsure", `its name has ${verb}, but it ${description.writes}`);
  }
  if (writesFile(tool, verb)) return write("unsure", `${verb} writes a file where it has a path`);
  if (description.verbClass !== null && isWriteClass(description.verbClass)) {
    return write("unsure", `its name has ${verb}, its description ${description.verb}`);
  }
  const confidence = verbClass === "read" && verbAt === 0 ? "sure" : "likely";
  return read(confidence, `its name has the verb ${verb}`);
}

/** `post_search`: an API that searches by POST. */
function searchByPost(_tool: ToolDefinition, { words, verb, description }: Evidence): Decided | null {
  const last = words.at(-1) ?? "";
  if (verb !== "post" || !["search", "query", "lookup"].includes(last)) return null;
  if (description.writes !== null) return null;
  return read("likely", `its name ends with ${last}`);
}

function isWriteClass(name: VerbClass): boolean {
  return name !== "read" && name !== "likely read" && name !== "unsure";
}

const FILE_ARGUMENTS = new Set(["path", "filename", "filepath", "destination", "output", "dir"]);

function writesFile({ schema }: ToolDefinition, verb: string): boolean {
  if (verb !== "download" && verb !== "scan" && verb !== "extract") return false;
  return /"[^"]*(?:path|file_?name|destination|output_?(?:dir|file)|folder)[^"]*":\{/i.test(
    JSON.stringify((schema as { properties?: unknown } | null)?.properties ?? {}),
  ) && FILE_ARGUMENTS.size > 0;
}

/** `crawl_status`, `place_details`: no verb, but a word for what the answer is. */
function fromLastWord({ words, verbAt, verbClass, description, verb }: Evidence): Decided | null {
  const last = words.at(-1) ?? "";
  const isNoun = READ_NOUNS.has(last) || READ_NOUNS.has(singularOf(last));
  if (!isNoun || description.writes !== null) return null;
  const saysWrite = description.verbClass !== null && isWriteClass(description.verbClass);
  if (saysWrite) return null;
  const leads = verbAt === 0 && words.length > 1 && verbClass !== null && verbClass !== "unsure";
  if (!leads) return read("likely", `its name ends with ${last}`);
  const saysRead = description.verbClass === "read";
  return saysRead ? read("likely", `its description begins with ${description.verb}`) : write("likely", `its name has the verb ${verb}`);
}

function fromDescription({ verb, verbClass, verbAt, description }: Evidence): Decided {
  const { verbClass: saidClass, writes, saysReadOnly } = description;
  const isNamedWrite = verbClass !== null && isWriteClass(verbClass);
  const isSaidRead = saidClass === "read" || saidClass === "likely read";
  if (isNamedWrite && verbAt === 0 && !saysReadOnly) {
    return write("sure", `its name has the verb ${verb}`);
  }
  if (writes === null && (saysReadOnly || (isSaidRead && !isNamedWrite))) {
    const reason = saysReadOnly
      ? "its description says that it changes nothing"
      : `its description begins with ${description.verb}`;
    return read("likely", reason);
  }
  if (isNamedWrite) return write("likely", `its name has the verb ${verb}`);
  if (saidClass !== null && isWriteClass(saidClass)) {
    return write("likely", `its description begins with ${description.verb}`);
  }
  return write("unsure", "neither its name nor its description says it");
}
