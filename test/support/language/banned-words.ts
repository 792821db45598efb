/** Invented words that this repository must not use, each with the word of the field. */

export interface BannedWord {
  /** As the test names it. */
  readonly word: string;
  /** Matched on lower-case words with one space between; `findTwin`, `find-twin` and `find twin` are alike. */
  readonly pattern: RegExp;
  /** `everywhere`: prose, messages and names. `names`: identifiers and file names; as prose the word is plain. */
  readonly where: "everywhere" | "names";
  readonly instead: string;
}

function ban(
  where: BannedWord["where"],
  words: Readonly<Record<string, readonly [pattern: string, instead: string]>>,
): readonly BannedWord[] {
  return Object.entries(words).map(([word, [pattern, instead]]) => {
    return { word, pattern: new RegExp(`(?<= )(?:${pattern})(?= )`, "g"), where, instead };
  });
}

export const BANNED_WORDS: readonly BannedWord[] = [
  ...ban("everywhere", {
    mend: ["mend|mends|mended|mending|mendable", "patch, fix, remedy"],
    twin: ["twin|twins", "prior call"],
    wholes: ["wholes", "ancestors"],
    "lies in": ["lie in|lies in|lay in", "contained in, is in"],
    "told at most": ["told at most", "settled"],
    "put down": ["put down|puts down", "store, write"],
    laid: ["laid|laid down", "written, stored"],
    "key mark": ["key mark|key marks", "Bloom filter"],
    "a login": ["a login|no login|logins|its login", "credentials, SASL"],
    "in the way": ["is in the way", "environment error"],
    rung: ["rung|rungs", "level, step"],
  }),
  ...ban("names", {
    given: ["given", "manual grant, lazy arguments"],
    told: ["told", "reported"],
    standing: ["standing|standings", "status"],
    place: ["place|places", "offset, position, location"],
    silent: ["silent", "idle"],
    kept: ["kept", "retained"],
    met: ["met", "encountered"],
    bare: ["bare", "plain, without X"],
    known: ["known", "declared, registered, verb and object"],
    named: ["named", "verb and object"],
    covered: ["covered", "verb and object"],
    ran: ["ran", "result, run"],
    found: ["found", "match, result, verb and object"],
    occurrence: ["occurrence|occurrences", "instance"],
    ring: ["ring|rings", "ring buffer, window"],
    "decide read": ["decide read", "decide parsed"],
    "read arguments": ["read arguments", "parsed arguments"],
  }),
];
