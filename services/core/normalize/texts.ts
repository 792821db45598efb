/** Normalizers from and to text. Case mapping and white space are those of ECMAScript, without a locale. */

import { canonicalText } from "../canonical/canonical-text.ts";
import { sha256Hex } from "../hash.ts";
import {
  cannot,
  kindOf,
  type MakeNormalizer,
  type Normalizer,
  normalized,
  ofText,
  textOr,
} from "./normalizer.ts";

/** Text of a scalar as JSON prints it; null and containers have none. */
export const convertToString: Normalizer = (value) => {
  if (typeof value === "string") return normalized(value);
  if (typeof value === "number" || typeof value === "boolean") return normalized(String(value));
  return cannot(`\`to_string\` needs text, a number or a boolean, found ${kindOf(value)}`);
};

export const toLower: Normalizer = mapped("to_lower", (text) => text.toLowerCase());

export const toUpper: Normalizer = mapped("to_upper", (text) => text.toUpperCase());

export const trim: Normalizer = mapped("trim", (text) => text.trim());

/** White space at the ends is dropped; each run of it inside becomes one space. */
export const collapseSpace: Normalizer = mapped("collapse_space", (text) => {
  const trimmed = text.trim();
  return WIDE_SPACE.test(trimmed) ? trimmed.replace(/\s+/g, " ") : trimmed;
});

/** White space that is more than one plain space. */
const WIDE_SPACE = /[^\S ]| {2}/;

/** Drops all white space. */
export const removeSpace: Normalizer = mapped("remove_space", (text) => text.replace(/\s+/g, ""));

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/;

/** An account number in groups of any length and in any case, as one word in capitals. Its check digits are not tested. */
export const iban: Normalizer = textOr("iban", "one IBAN", (text) => {
  const word = text.replace(/\s+/g, "").toUpperCase();
  return IBAN.test(word) ? word : null;
});

/** Unicode normalization form C: composed, same characters. */
export const nfc: Normalizer = mapped("nfc", (text) => text.normalize("NFC"));

/** Unicode normalization form KC: also folds width, ligatures and other compatibility forms. */
export const nfkc: Normalizer = mapped("nfkc", (text) => text.normalize("NFKC"));

/** Drops Unicode punctuation (general category P) and leaves symbols, letters, digits and space. */
export const stripPunctuation: Normalizer = mapped("strip_punctuation", (text) =>
  text.replace(/\p{P}+/gu, ""),
);

/** An absolute URL in the form that the URL standard gives it. */
export const url: Normalizer = textOr("url", "an absolute URL", (text, capabilities) =>
  capabilities.url(text),
);

/** One mail address: the domain in lower-case ASCII, the local part as it is. */
export const email: Normalizer = textOr("email", "one mail address", (text, capabilities) =>
  capabilities.email(text),
);

/** Digest of the value's canonical JSON, for values that should not appear in resource names. */
export const hash: Normalizer = (value) =>
  normalized(`sha256:${sha256Hex("callgate.normalize.hash/1", canonicalText(value))}`);

/**
 * A path in its shortest form: no `.` segments, no doubled or trailing slashes, `..` resolved with
 * the segment before it. Only the text counts: links are not followed and `~` is a name.
 */
export const path: Normalizer = textOr("path", "a path", (text) => {
  if (text === "" || text.includes("\0")) return null;
  const absolute = text.startsWith("/");
  const segments: string[] = [];
  for (const segment of text.split("/")) {
    if (segment === "" || segment === ".") continue;
    const resolves =
      segment === ".." && segments.length > 0 && segments[segments.length - 1] !== "..";
    if (resolves) segments.pop();
    else if (segment !== ".." || !absolute) segments.push(segment);
  }
  const short = segments.join("/");
  if (absolute) return `/${short}`;
  return short === "" ? "." : short;
});

function mapped(name: string, map: (text: string) => string): Normalizer {
  return ofText(name, (text) => normalized(map(text)));
}

/**
 * `e164(US)`: a telephone number as `+` and digits; national ones are read as numbers of that
 * region. Only `e164(US, valid)` checks that such a number exists. Without a region only
 * international spellings are accepted.
 */
export const e164: MakeNormalizer = (parameters, { capabilities }) => {
  const [region = null, check] = parameters;
  if (check !== undefined && check !== "valid") {
    return { ok: false, problem: `\`e164\` knows no \`${check}\`: write e164(US, valid)` };
  }
  const problem = capabilities.findPhoneProblem(region);
  if (problem !== null) return { ok: false, problem };
  const wanted = [
    check === undefined ? "a telephone number" : "a telephone number that exists",
    region === null ? " with its country code" : "",
  ].join("");
  const options = { region, valid: check !== undefined };
  return textOr("e164", wanted, (text, { phone }) => phone(text, options));
};
