/** Exact decimals as text in plain notation, as `ValueCapabilities.decimal` writes them. */

const PLAIN = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;

/** Negative: the first is less. Both are in plain notation. */
export function compareDecimals(a: string, b: string): number {
  const [first, second] = [read(a), read(b)];
  if (first.isNegative !== second.isNegative) return first.isNegative ? -1 : 1;
  const size = compareSizes(first, second);
  return first.isNegative ? -size : size;
}

interface Digits {
  readonly isNegative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

function read(text: string): Digits {
  const [, sign = "", digits = "0", rest = ""] = PLAIN.exec(text) ?? [];
  const whole = digits.replace(/^0+(?=[0-9])/, "");
  const fraction = rest.replace(/0+$/, "");
  return { isNegative: sign === "-" && `${whole}${fraction}` !== "0", whole, fraction };
}

function compareSizes(a: Digits, b: Digits): number {
  if (a.whole.length !== b.whole.length) return a.whole.length - b.whole.length;
  if (a.whole !== b.whole) return a.whole < b.whole ? -1 : 1;
  if (a.fraction === b.fraction) return 0;
  return a.fraction < b.fraction ? -1 : 1;
}
