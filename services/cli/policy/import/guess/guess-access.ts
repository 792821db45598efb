/** Guesses whether a tool reads from its name, its description and its HTTP method. */
import { asksUser } from "../../../../core/policy/asks-user.ts";
import type { ToolDefinition } from "../tool-definition.ts";
import { type Description, descriptionOf } from "./description.ts";
import {
  NOT_READS,
  NOUN_LIKE,
  QUESTIONS,
  READ_NOUNS,
  VERBS,
  type VerbClass,
  WRITES_ANYWHERE,
  WRITES_AS_NOUNS,
} from "./lexicon.ts";
import { parametersOf } from "./parameters.ts";
import { singularOf, splitName } from "./split-name.ts";

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
  const decided =
    stated(tool, evidence) ?? fromName(tool, evidence) ?? fromDescription(tool, evidence);
  return { verbAt, ...decided };
}

type Decided = Omit<Access, "verbAt">;

const write = (confidence: Confidence, reason: string): Decided => ({
  ...{ isRead: false, confidence, reason },
});
const read = (confidence: Confidence, reason: string): Decided => ({
  ...{ isRead: true, confidence, reason },
});

/** `file_search`, `monitor_create`, `user_get_profile`; a verb that says more goes first. */
function findVerb(words: readonly string[]): number | null {
  const last = words.length - 1;
  const isNear = (at: number): boolean => at <= WORDS_BEFORE_VERB_MAX || at === last;
  const verbs = [...words.keys()].filter((at) => VERBS.has(words[at] ?? ""));
  const [first] = verbs.filter(isNear);
  const clear = verbs.find((at) => isNear(at) && isClear(words[at] ?? ""));
  // `core_memory_retrieve_all`
  const inside = verbs.find((at) => VERBS.get(words[at] ?? "") === "read");
  if (first === undefined) return inside ?? null;
  return isClear(words[first] ?? "") ? first : (clear ?? first);
}

function isClear(word: string): boolean {
  return VERBS.get(word) !== "unsure" && !NOUN_LIKE.has(word);
}

/** What the definition itself says. */
function stated({ readOnly, method }: ToolDefinition, evidence: Evidence): Decided | null {
  if (readOnly === true) return read("sure", "it is declared");
  if (readOnly === false) return write("sure", "it is declared");
  if (method === "get" || method === "head" || method === "options") {
    const against = contradictionOf(evidence);
    if (against !== null) return write("unsure", `it is a ${method.toUpperCase()}, but ${against}`);
    return read("sure", `HTTP ${method.toUpperCase()}`);
  }
  if (method === "put" || method === "patch" || method === "delete") {
    return write("sure", `HTTP ${method.toUpperCase()}`);
  }
  return null;
}

/** What speaks against a read that HTTP promises; null: nothing. */
function contradictionOf({ words, verb, verbAt, verbClass, description }: Evidence): string | null {
  const joined = words.join(" ");
  const excluded = NOT_READS.find(([pattern]) => pattern.test(joined));
  if (excluded !== undefined) return excluded[1];
  if (description.writes !== null) return `it ${description.writes}`;
  const isWriteVerb = verbClass !== null && isWriteClass(verbClass) && !NOUN_LIKE.has(verb);
  return isWriteVerb && verbAt === 0 ? `its name has the verb ${verb}` : null;
}

/** Null: the name leaves it open. */
function fromName(tool: ToolDefinition, evidence: Evidence): Decided | null {
  const { words, verbAt } = evidence;
  const joined = words.join(" ");
  const excluded = NOT_READS.find(([pattern]) => pattern.test(joined));
  if (excluded !== undefined) return write("likely", excluded[1]);
  if (QUESTIONS.has(words[0] ?? "")) return read("likely", `its name asks: ${words[0]}`);
  if (asksUser(tool.name, {})) return read("likely", "it asks the user");
  const writing = writingWordIn(evidence);
  if (writing === undefined) {
    if (hasReadVerb(evidence)) return fromReadVerb(tool, evidence);
    return searchByPost(evidence) ?? fromLastWord(tool, evidence);
  }
  const isDoubtful = hasReadVerb(evidence) || verbAt === null;
  if (isDoubtful) return write("unsure", `its name has ${writing}`);
  return searchByPost(evidence) ?? write("sure", `its name has ${writing}`);
}

function hasReadVerb({ verbClass }: Evidence): boolean {
  return verbClass === "read" || verbClass === "likely read";
}

function isPlainRead({ verbClass, verbAt }: Evidence): boolean {
  return verbClass === "read" && verbAt === 0;
}

/** A word that makes the tool a write, and is no noun here. */
function writingWordIn(evidence: Evidence): string | undefined {
  const asNouns = isPlainRead(evidence);
  return evidence.words.find(
    (word) => WRITES_ANYWHERE.has(word) && !(asNouns && WRITES_AS_NOUNS.has(word)),
  );
}

/** The name says that the tool reads: nothing else may speak against it. */
function fromReadVerb(tool: ToolDefinition, evidence: Evidence): Decided {
  const { verb, description } = evidence;
  const choice = writingChoiceOf(tool);
  const doubts: readonly (readonly [boolean, string])[] = [
    [description.writes !== null, `its name has ${verb}, but it ${description.writes}`],
    [choice !== null, `its argument ${choice} may write`],
    [writesFile(tool, verb), `${verb} writes a file where it has a path`],
    [saysWrite(description), `its name has ${verb}, its description ${description.verb}`],
  ];
  const doubt = doubts.find(([is]) => is);
  if (doubt !== undefined) return write("unsure", doubt[1]);
  return read(isPlainRead(evidence) ? "sure" : "likely", `its name has the verb ${verb}`);
}

/** `post_search`: an API that searches by POST. */
function searchByPost({ words, verb, description }: Evidence): Decided | null {
  const last = words.at(-1) ?? "";
  if (verb !== "post" || !["search", "query", "lookup"].includes(last)) return null;
  if (description.writes !== null) return null;
  return read("likely", `its name ends with ${last}`);
}

/** "Run a search" does not say that the tool writes. */
function saysWrite({ verbClass }: Description): boolean {
  return verbClass !== null && verbClass !== "run" && isWriteClass(verbClass);
}

function isWriteClass(name: VerbClass): boolean {
  return name !== "read" && name !== "likely read" && name !== "unsure";
}

const MAY_WRITE_FILES: ReadonlySet<string> = new Set(["download", "scan", "extract", "export"]);

function writesFile({ schema }: ToolDefinition, verb: string): boolean {
  if (!MAY_WRITE_FILES.has(verb)) return false;
  return parametersOf(schema).some(({ role }) => role === "path");
}

const CHOOSERS: ReadonlySet<string> = new Set(
  "action operation method mode command type".split(" "),
);

/** The argument that chooses among several actions, one of which writes; null: there is none. */
function writingChoiceOf({ schema }: ToolDefinition): string | null {
  const chooser = parametersOf(schema).find(({ words, schema: { enum: choices } }) => {
    if (!CHOOSERS.has(words.at(-1) ?? "") || !Array.isArray(choices)) return false;
    return choices.some((one) => typeof one === "string" && doesWrite(splitName(one)));
  });
  return chooser?.name ?? null;
}

function doesWrite([first = ""]: readonly string[]): boolean {
  return WRITES_ANYWHERE.has(first) || first === "close" || first === "new" || first === "start";
}

/** `crawl_status`, `place_details`: no verb, but a word for what the answer is. */
function fromLastWord(tool: ToolDefinition, evidence: Evidence): Decided | null {
  const { words, verbAt, verbClass, description, verb } = evidence;
  const last = words.at(-1) ?? "";
  if (writingChoiceOf(tool) !== null) return null;
  const isNoun = READ_NOUNS.has(last) || READ_NOUNS.has(singularOf(last));
  if (!isNoun || description.writes !== null) return null;
  if (saysWrite(description)) return null;
  const leads = verbAt === 0 && words.length > 1 && verbClass !== null && verbClass !== "unsure";
  if (!leads) return read("likely", `its name ends with ${last}`);
  const saysRead = description.verbClass === "read";
  return saysRead
    ? read("likely", `its description begins with ${description.verb}`)
    : write("likely", `its name has the verb ${verb}`);
}

function fromDescription(tool: ToolDefinition, evidence: Evidence): Decided {
  const { verb, verbClass, verbAt, description } = evidence;
  const { saysReadOnly } = description;
  if (verbClass !== null && isWriteClass(verbClass)) {
    const confidence = verbAt === 0 ? "sure" : "likely";
    return write(saysReadOnly ? "unsure" : confidence, `its name has the verb ${verb}`);
  }
  const { verbClass: saidClass, writes } = description;
  const isPlain = writes === null && writingChoiceOf(tool) === null;
  if (isPlain && saysReadOnly) return read("likely", "it says that it changes nothing");
  const said = `its description begins with ${description.verb}`;
  if (isPlain && (saidClass === "read" || saidClass === "likely read")) return read("likely", said);
  if (saidClass !== null && isWriteClass(saidClass)) return write("likely", said);
  return write("unsure", "neither its name nor its description says it");
}
