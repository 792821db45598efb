/** What the description of a tool says about reading and writing. */
import {
  NOUN_LIKE,
  UNTOLD_BY_DESCRIPTION,
  VERBS,
  type VerbClass,
  WRITES_ANYWHERE,
} from "./lexicon.ts";

export type Description = {
  /** The verb that it begins with, and what that verb stands for. */
  readonly verb: string;
  readonly verbClass: VerbClass | null;
  /** What it says that the tool also writes; null: nothing. */
  readonly writes: string | null;
  /** It says that nothing is changed. */
  readonly saysReadOnly: boolean;
  /** It says that the effect cannot be undone. */
  readonly isFinal: boolean;
};

const CHARACTERS_READ = 4_000;

export function descriptionOf(text: string): Description {
  const said = text.slice(0, CHARACTERS_READ).toLowerCase();
  const verb = firstVerb(said);
  return {
    verb: verb ?? "",
    verbClass: verb === null ? null : (VERBS.get(verb) ?? null),
    writes: writesIn(said) ?? verbListIn(said),
    saysReadOnly: READ_ONLY.test(said),
    isFinal: FINAL.test(said),
  };
}

const LEAD =
  /^(?:[\s#*`>\-\d.:[\]|]+|this (?:tool|api|function|endpoint|operation)|the tool|tool|api|use (?:this|it)(?: tool)?|useful|a|an|to|for|that|which|can be used|allows? (?:you|the agent|the user)|lets? (?:you|the agent)|helps? (?:you )?|will|you can|safely|quickly|currently|instantly|semantically|efficiently)\b\s*/;
const LEADS_MAX = 8;

function firstVerb(said: string): string | null {
  // "Notion | Search by title"
  let rest = said.trimStart().replace(/^[a-z0-9 ]{1,24}(?: \||:) /, "");
  for (let count = 0; count < LEADS_MAX; count += 1) {
    const shorter = rest.replace(LEAD, "").replace(/^[\s#*`>\-.:[\]|]+/, "");
    if (shorter === rest) break;
    rest = shorter;
  }
  const [, word = "", next = ""] = /^([a-z]+)\s*([a-z]*)/.exec(rest) ?? [];
  const stems = [word, ...stemsOf(word)];
  if (RETURNS.has(stems.at(-1) ?? "") || RETURNS.has(word)) return "get";
  const verb = stems.find((stem) => VERBS.has(stem) && !UNTOLD_BY_DESCRIPTION.has(stem));
  if (verb === undefined) return null;
  // "Comments of a post" speaks of a thing, "Comment on a post" and "Book a cab" do not.
  const isNoun = NOUN_LIKE.has(verb) && !DETERMINERS.has(next);
  return isNoun ? null : verb;
}

const RETURNS: ReadonlySet<string> = new Set(["return", "returns", "provide", "provides"]);
const DETERMINERS: ReadonlySet<string> = new Set(
  "a an the this that your one it new someone people selected".split(" "),
);

/** `returns`, `fetches`, `queries`, `retrieving` as the verbs that they are forms of. */
function stemsOf(word: string): readonly string[] {
  const stems: string[] = [];
  if (word.endsWith("ies")) stems.push(`${word.slice(0, -3)}y`);
  if (word.endsWith("es")) stems.push(word.slice(0, -2));
  if (word.endsWith("s")) stems.push(word.slice(0, -1));
  if (word.endsWith("ing")) stems.push(word.slice(0, -3), `${word.slice(0, -3)}e`);
  return stems;
}

const READ_ONLY =
  /\bread[- ]only\b|\bwithout (?:changing|modifying|altering|side effects?)\b|\b(?:does not|doesn't|will not|never) (?:[\w ]{0,40}\b)?(?:change|modify|alter|write|affect)\b|\bno side effects?\b|\bonly (?:computes|reads|composes)\b/;

const FINAL =
  /\bpermanent(?:ly)?\b|\b(?:cannot|can't|can not) be (?:undone|reversed|recovered|restored)\b|\birreversibl[ey]\b|\bno undo\b|\bunrecoverabl[ey]\b/;

/** Signs of a second thing that a tool does besides reading. */
const ALSO_WRITES: readonly RegExp[] = [
  /\band (?:then )?(?:also )?(?:creates?|deletes?|removes?|updates?|sends?|marks?|stores?|charges?|archives?|resets?|clears?|acknowledges?|claims?|locks?|reserves?|consumes?|increments?|overwrites?|emails?|starts?|triggers?|submits?|closes?|opens?|rotates?|saves?|writes?|publish(?:es)?|advances?|moves?|refresh(?:es)?)\b/,
  /\bmark(?:s|ed|ing)? (?:\w+ ){0,5}as (?:read|seen|done|delivered|viewed|processed|handled)\b/,
  /\b(?:creates?|creating|adds?) (?:it|one|a new \w+|the \w+)?[^.]{0,40}\bif\b[^.]{0,40}\b(?:not|no|none|missing|n't)\b/,
  /\bif\b[^.]{0,60}\b(?:not|no|none|missing|n't)\b[^.]{0,30}\b(?:creates?|is created|will be created)\b/,
  /(?<!not |never |without |n't )\b(?:deletes|removes|sends|charges|consumes|acknowledges|increments|overwrites|cancels|modifies|creates|triggers|starts|submits|schedules|registers|publishes|unlocks|rotates|resets|clears|archives|closes|dequeues)\b/,
  /\b(?:are|is|will be|gets?) (?:then |also |automatically )?(?:deleted|removed|sent|charged|consumed|acknowledged|overwritten|cancelled|booked|dequeued|popped)\b/,
  /\bas a side effect\b/,
];

/** `list, create, close or select a tab`: one of several verbs at the beginning writes. */
function verbListIn(said: string): string | null {
  const list =
    /^[\s#*`>-]*([a-z]+(?:(?:, (?:or |and )?|\/| or | and )[a-z]+)+)\b/.exec(said)?.[1] ?? "";
  const verbs = list.split(/[^a-z]+/).flatMap((word) => [word, ...stemsOf(word)]);
  const writing = verbs.find((word) => WRITES_ANYWHERE.has(word) || word === "close");
  return writing === undefined ? null : `says "${list.slice(0, 60)}"`;
}

function writesIn(said: string): string | null {
  for (const pattern of ALSO_WRITES) {
    const match = pattern.exec(said)?.[0];
    if (match !== undefined) return `says "${match.slice(0, 60)}"`;
  }
  return null;
}
