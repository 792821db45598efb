/** `$name` and `${name…}`, which are only known when they run. */
import { BRACED, NAME } from "./spelling.ts";

/** The name of what is expanded, or null for a lone dollar; and where it ends. Null: it may do more than read. */
export function expansionAt(text: string, at: number): Expansion | null {
  // The quotes of bash; or a dollar and, on the next line, what it is a dollar of.
  if (/^\$(?:["'[]|\\\n)/.test(text.slice(at, at + 3))) return null;
  return text.startsWith("${", at) ? inBraces(text, at) : byName(text, at);
}

interface Expansion {
  readonly name: string | null;
  /** Each of its values is a word, also in double quotes: `$@`, `${name[@]}`. */
  readonly isList: boolean;
  readonly end: number;
}

function byName(text: string, at: number): Expansion {
  NAME.lastIndex = at + 1;
  const name = NAME.exec(text)?.[0] ?? text.charAt(at + 1);
  const isName = /^[\w?!$@*#-]/.test(name);
  return isName
    ? { name, isList: name === "@", end: at + 1 + name.length }
    : { name: null, isList: false, end: at + 1 };
}

function inBraces(text: string, at: number): Expansion | null {
  BRACED.lastIndex = at;
  const [inside, name] = BRACED.exec(text) ?? [];
  if (inside === undefined || name === undefined) return null;
  const end = at + inside.length;
  if (LIST.test(inside)) return { name, isList: !inside.startsWith("${#"), end };
  // `${name:=value}` and `${name@P}` do more than read.
  if (/[=@]/.test(inside.slice(2 + name.length))) return null;
  return { name, isList: name === "@", end };
}

/** All of an array, its indexes, or how many there are. */
const LIST = /^\$\{[#!]?[A-Za-z_]\w*\[@\]\}$/;
