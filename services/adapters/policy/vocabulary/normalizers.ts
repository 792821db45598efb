import type { NormalizerCall } from "../../../core/policy/document.ts";
import { nearest } from "../nearest.ts";

/** Names of the whole vocabulary; how many arguments each takes. */
const NORMALIZERS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  to_int: [0, 0],
  to_number: [0, 0],
  to_string: [0, 0],
  to_bool: [0, 0],
  to_lower: [0, 0],
  to_upper: [0, 0],
  trim: [0, 0],
  collapse_space: [0, 0],
  nfc: [0, 0],
  nfkc: [0, 0],
  e164: [0, 2],
  email: [0, 0],
  url: [0, 0],
  date: [0, 0],
  datetime: [0, 0],
  decimal: [0, 0],
  minor_units: [0, 1],
  sort: [0, 0],
  unique: [0, 0],
  json: [0, 0],
  path: [0, 0],
  strip_punctuation: [0, 0],
  omit_if_default: [0, 0],
  hash: [0, 0],
};

export const NORMALIZER_NAMES: readonly string[] = Object.keys(NORMALIZERS);

const CALL = /^([A-Za-z_][A-Za-z0-9_]*)(?:\(([^()]*)\))?$/;

/** Null, or why the text is no normalizer, with the mend after a line feed. */
export function normalizerProblem(written: string): string | null {
  const call = CALL.exec(written);
  if (call === null) {
    return `\`${written}\` is not a normalizer\nwrite a name, or a name with arguments in quotes: "e164(US, valid)"`;
  }
  const { name, arguments: given } = parseNormalizer(written);
  const arity = NORMALIZERS[name];
  if (arity === undefined) {
    const meant = nearest(name, NORMALIZER_NAMES);
    const mend =
      meant === null ? `use one of ${NORMALIZER_NAMES.join(", ")}` : `did you mean \`${meant}\`?`;
    return `\`${name}\` is not a normalizer\n${mend}`;
  }
  if (given.length < arity[0] || given.length > arity[1]) {
    return `\`${name}\` takes ${arity[1] === 0 ? "no" : `at most ${arity[1]}`} arguments\nwrite \`${name}\``;
  }
  return null;
}

/** `e164(US, valid)` as name and arguments. The text has passed `normalizerProblem`. */
export function parseNormalizer(written: string): NormalizerCall {
  const [, name = written, list] = CALL.exec(written) ?? [];
  const given = (list ?? "").split(",").map((argument) => argument.trim());
  return { name, arguments: given.filter((argument) => argument !== "") };
}
