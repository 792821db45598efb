/** Why a text has no canonical form. Closed list: a new code needs its sentence below. */
export type CanonicalCode =
  | "invalid_utf8"
  | "lone_surrogate"
  | "duplicate_key"
  | "forbidden_key"
  | "number_not_exact"
  | "number_too_precise"
  | "number_overflow"
  | "number_underflow"
  | "syntax"
  | "too_deep"
  | "too_many_keys"
  | "too_large";

/** A refusal of the text. `at` is an offset in the input: code units of a string, else bytes. */
export type CanonicalFailure = {
  readonly ok: false;
  readonly reason: "malformed" | "too_large";
  readonly code: CanonicalCode;
  /** One lower-case sentence: what is wrong, and what to send instead. */
  readonly message: string;
  readonly at: number;
};

const OVER_LIMIT: ReadonlySet<CanonicalCode> = new Set(["too_deep", "too_many_keys", "too_large"]);

const SHOWN_CHARACTERS = 40;

/** A failure with its position; limits give `too_large`, everything else `malformed`. */
export function canonicalFailure(
  code: CanonicalCode,
  message: string,
  at: number,
): CanonicalFailure {
  const reason = OVER_LIMIT.has(code) ? "too_large" : "malformed";
  return { ok: false, reason, code, message, at };
}

/** A part of the input that is safe in a message: ASCII, short, in back-ticks. */
export function shown(text: string): string {
  const head = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
  const safe = JSON.stringify(head).slice(1, -1).replaceAll("`", "\\u0060");
  let ascii = "";
  for (const unit of safe.split("")) {
    const code = unit.charCodeAt(0);
    ascii += code < 0x7f ? unit : `\\u${code.toString(16).padStart(4, "0")}`;
  }
  return `\`${ascii}\``;
}
