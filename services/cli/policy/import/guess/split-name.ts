/** Splits names of tools and arguments into lower-case words. */

/** `mcp__github__createPullRequest` gives `mcp github create pull request`. */
export function splitName(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

/** Puts `top`, `up` together where the two are one verb. */
export function joinCompounds(
  words: readonly string[],
  compounds: ReadonlySet<string>,
): readonly string[] {
  const joined: string[] = [];
  for (const word of words) {
    const both = `${joined.at(-1) ?? ""}${word}`;
    if (joined.length > 0 && compounds.has(both)) joined[joined.length - 1] = both;
    else joined.push(word);
  }
  return joined;
}

/** How many leading words of a name may be a service (`mcp github …`). */
const PREFIX_WORDS_MAX = 3;
/** Of so many tools, and this share of them, a first word is the service's name. */
const PREFIX_TOOLS_MIN = 3;
const PREFIX_SHARE_MIN = 0.6;

/**
 * The words with which most names of one server begin, and which are no verb: `slack` for
 * `slack_list_channels`, `slack_post_message`, ….
 */
export function findPrefix(
  names: readonly (readonly string[])[],
  isVerb: (word: string) => boolean,
): readonly string[] {
  const prefix: string[] = [];
  if (names.length < PREFIX_TOOLS_MIN) return prefix;
  for (let at = 0; at < PREFIX_WORDS_MAX; at += 1) {
    const counts = new Map<string, number>();
    for (const words of names) {
      const isOwn = prefix.every((word, index) => words[index] === word);
      const word = words[at];
      if (isOwn && word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const [word, count] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? ["", 0];
    if (count < names.length * PREFIX_SHARE_MIN || isVerb(word)) return prefix;
    prefix.push(word);
  }
  return prefix;
}

/** The name without its service's words; a name that consists of nothing else stays whole. */
export function withoutPrefix(
  words: readonly string[],
  prefix: readonly string[],
): readonly string[] {
  const begins = words.length > prefix.length && prefix.every((word, at) => words[at] === word);
  return begins ? words.slice(prefix.length) : words;
}

const NO_PLURALS = /(?:ss|us|is|news|series|status|address)$/;

/** `invoices` gives `invoice`, `replies` gives `reply`. */
export function singularOf(word: string): string {
  if (word.length < 4 || NO_PLURALS.test(word) || !word.endsWith("s")) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return /(?:ss|sh|ch|x|z)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}
