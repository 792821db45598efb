/** What of a regular expression a text must have, as far as single letters say it. */

/** The text begins here. */
export const START = "\u0002";
/** The text ends here. */
export const END = "\u0004";
/** Between alternatives. */
const OR = "\u0003";
/** Stands for letters of which none is named. */
const ANY = "x";

const ATOM =
  /\\x([\da-f]{2})|\\x\{([\da-f]+)\}|\\(.)|\[(\^?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]|(\(\?(?:P?<\w+>|[\w-]*[:)]))|(.)/giy;
const QUANTIFIER = /(?:([*?]|\{0?,\d*\}|\{0\})|\+|\{(\d+),?\d*\})\??/y;

/** Letters that mean something to a shell: where they need not be there, nothing is said of them. */
const MEANING = /[|;&<>$'"`\s]/;
const OPERATORS = /^[|;&<>]+$/;

/** Each alternative as a text of letters, with `x` for what may be any, `START` where it begins and `END` where it ends. */
export function plainPattern(pattern: string): readonly string[] {
  let plain = "";
  for (let at = 0; at < pattern.length; ) {
    ATOM.lastIndex = at;
    const atom = ATOM.exec(pattern);
    if (atom === null) break;
    QUANTIFIER.lastIndex = ATOM.lastIndex;
    const quantifier = QUANTIFIER.exec(pattern);
    at = quantifier === null ? ATOM.lastIndex : QUANTIFIER.lastIndex;
    const letter = letterOf(atom);
    const mayLack = quantifier?.[1] !== undefined;
    // Behind the end nothing is what stands there.
    if (mayLack && (MEANING.test(letter) || plain.endsWith(END))) continue;
    // Of blanks it matters whether there must be several.
    plain += letter === " " && Number(quantifier?.[2] ?? 1) > 1 ? "  " : letter;
  }
  return plain.split(OR);
}

function letterOf([
  ,
  hex,
  point,
  escaped,
  negated,
  members,
  group,
  other,
]: RegExpExecArray): string {
  const code = hex ?? point;
  if (code !== undefined)
    return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
  if (escaped !== undefined) return escapedLetter(escaped);
  if (members !== undefined) return negated === "" ? letterOfClass(members) : ANY;
  if (group !== undefined) return "";
  switch (other) {
    case "^":
      return START;
    case "|":
      return OR;
    case ".":
      return ANY;
    case "$":
      return END;
    case "(":
    case ")":
    case undefined:
      return "";
    default:
      return other;
  }
}

function escapedLetter(letter: string): string {
  if (/[bBAzZ]/.test(letter)) return "";
  if (letter === "s") return " ";
  if (letter === "t") return "\t";
  if (/[nrfv]/.test(letter)) return "\n";
  return /[A-Za-z\d]/.test(letter) ? ANY : letter;
}

/** A class of operators alone says as much as one of them. */
function letterOfClass(members: string): string {
  const plain = members.replaceAll("\\", "");
  return OPERATORS.test(plain) ? plain.charAt(0) : ANY;
}
