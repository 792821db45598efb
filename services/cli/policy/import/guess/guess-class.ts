/** Guesses what kind of side effect a write has, and on what. */
import { NOUN_CLASSES, type VerbClass, WRITES, WRITES_ANYWHERE } from "./lexicon.ts";
import { singularOf } from "./split-name.ts";

export type WriteClass = Exclude<VerbClass, "read" | "likely read" | "unsure">;

export type WriteGuess = {
  /** Null: nothing says what it does. */
  readonly kind: WriteClass | null;
  readonly verb: string;
  /** The thing that the name speaks of, singular: `issue_comment`; empty where it names none. */
  readonly noun: string;
};

/** Verbs that say little: what is made or given says what the effect is. */
const GENERIC: ReadonlySet<string> = new Set(
  "create add insert new make post submit issue run process give put write place request schedule order set generate record register approve do give assign".split(
    " ",
  ),
);

/** What a verb acts on, where the name says no more. */
const NOUN_OF_VERB: ReadonlyMap<string, string> = new Map([["deploy", "deployment"]]);

/** Whoever sets one of these lets somebody in. */
const SECRETS: ReadonlySet<string> = new Set("password passcode pin mfa otp credential".split(" "));

/** A word after which the name says where, to whom or how. */
const PREPOSITIONS: ReadonlySet<string> = new Set(
  "to from for in on by with of as into at via".split(" "),
);
const FILLERS: ReadonlySet<string> = new Set("a an the new batch bulk all multiple one".split(" "));

/** Verbs that turn to another page or screen. */
const NAVIGATES: ReadonlySet<string> = new Set(["navigate", "goto", "visit", "back", "forward"]);
const PAGES: ReadonlySet<string> = new Set(["browser", "page", "tab", "url", "app"]);

export function guessClass(words: readonly string[]): WriteGuess {
  const opens = words.includes("open") && words.some((word) => PAGES.has(word));
  const navigates = opens ? "open" : words.find((word) => NAVIGATES.has(word));
  if (navigates !== undefined) return { kind: "touch", verb: navigates, noun: "page" };
  const verbAt = findWriteVerb(words);
  const verb = words[verbAt] ?? "";
  const nouns = nounsOf(words, verbAt);
  const noun = nouns.join("_");
  return guessByNouns(verb, nouns, noun === "" ? (NOUN_OF_VERB.get(verb) ?? "") : noun);
}

function guessByNouns(verb: string, nouns: readonly string[], noun: string): WriteGuess {
  const kind = (WRITES.get(verb) as WriteClass | undefined) ?? null;
  const head = nouns.at(-1) ?? "";
  if (SECRETS.has(head) && kind === "update") return { kind: "grant", verb, noun };
  const byNoun = NOUN_CLASSES.get(head) ?? NOUN_CLASSES.get(nouns[0] ?? "");
  if (GENERIC.has(verb) && byNoun !== undefined) return { kind: byNoun, verb, noun };
  if (verb === "post" && byNoun === undefined && nouns.length > 0)
    return { kind: "create", verb, noun };
  return { kind, verb, noun };
}

/** The first verb that writes, at the beginning or the end; else the first word. */
function findWriteVerb(words: readonly string[]): number {
  const strong = words.findIndex((word, at) => WRITES.has(word) && at <= 1);
  if (strong >= 0) return strong;
  // `get_or_create_label`.
  const inside = words.findIndex((word) => WRITES.has(word) && WRITES_ANYWHERE.has(word));
  if (inside > 0) return inside;
  const last = words.length - 1;
  return WRITES.has(words[last] ?? "") ? last : 0;
}

function nounsOf(words: readonly string[], verbAt: number): readonly string[] {
  const isLast = verbAt === words.length - 1 && verbAt > 0;
  const rest = isLast ? words.slice(0, verbAt) : words.slice(verbAt + 1);
  const end = rest.findIndex((word) => PREPOSITIONS.has(word));
  const object = end > 0 ? rest.slice(0, end) : end === 0 ? rest.slice(1) : rest;
  // `create_or_update_file`, `get_or_create_label`.
  const [first] = object;
  const thing = first === "or" || first === "and" ? object.slice(2) : object;
  return thing.filter((word) => !FILLERS.has(word)).map(singularOf);
}
