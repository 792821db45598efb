// A slow, obvious reading of the canonical form's rules, for comparison with the real one: no
// tables, no regular expressions, numbers as exact fractions of big integers.

/** A number as spelled: `digits` times ten to the power. */
type ExactNumber = { readonly kind: "number"; readonly digits: bigint; readonly power: number };

export type ReferenceValue =
  | { readonly kind: "literal"; readonly word: string }
  | { readonly kind: "string"; readonly units: readonly number[] }
  | ExactNumber
  | { readonly kind: "array"; readonly items: readonly ReferenceValue[] }
  | { readonly kind: "object"; readonly members: readonly ReferenceMember[] };

type ReferenceMember = { readonly key: string; readonly value: ReferenceValue };

export type ReferenceLimits = { readonly maxDepth: number; readonly maxKeys: number };

class Refused extends Error {}

/** The value of a text, or undefined where the rules refuse it. It ignores the size. */
export function referenceRead(text: string, limits: ReferenceLimits): ReferenceValue | undefined {
  // Half of a surrogate pair has no UTF-8, so the text would not survive a round trip.
  if (Buffer.from(text, "utf8").toString("utf8") !== text) return undefined;
  try {
    return new Reference(text, limits).whole();
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** The documented equivalence: key order, spellings of one integer, fractions of one double. */
export function isEquivalent(left: ReferenceValue, right: ReferenceValue): boolean {
  if (left.kind === "number" && right.kind === "number") {
    return exactlyEqual(left, right) || doubleOf(left) === doubleOf(right);
  }
  if (left.kind === "string" && right.kind === "string") {
    return left.units.join(",") === right.units.join(",");
  }
  if (left.kind === "array" && right.kind === "array") {
    return (
      left.items.length === right.items.length &&
      left.items.every((item, at) => isEquivalent(item, right.items[at] as ReferenceValue))
    );
  }
  if (left.kind === "object" && right.kind === "object") {
    return left.members.length === right.members.length && left.members.every(isIn(right.members));
  }
  return left.kind === "literal" && right.kind === "literal" && left.word === right.word;
}

function isIn(members: readonly ReferenceMember[]): (member: ReferenceMember) => boolean {
  return ({ key, value }) =>
    members.some((other) => other.key === key && isEquivalent(value, other.value));
}

function exactlyEqual(left: ExactNumber, right: ExactNumber): boolean {
  const least = Math.min(left.power, right.power);
  return (
    left.digits * 10n ** BigInt(left.power - least) ===
    right.digits * 10n ** BigInt(right.power - least)
  );
}

function doubleOf(number: ExactNumber): number {
  return Number(`${number.digits}e${number.power}`);
}

/** Removes trailing zeros, so that the digits are the significant ones. */
function reduced(digits: bigint, power: number): ExactNumber {
  let [left, raised] = [digits, power];
  while (left !== 0n && left % 10n === 0n) {
    left /= 10n;
    raised += 1;
  }
  return { kind: "number", digits: left, power: left === 0n ? 0 : raised };
}

function isAcceptable(number: ExactNumber): boolean {
  if (number.digits === 0n) return true;
  const double = doubleOf(number);
  if (double === 0 || !Number.isFinite(double)) return false;
  if (number.power < 0) return String(number.digits).replace("-", "").length <= 17;
  const [printedDigits, printedPower] = String(double).replace("e+", "e").split("e");
  const [whole = "", fraction = ""] = (printedDigits ?? "").split(".");
  const power = Number(printedPower ?? "0") - fraction.length;
  const printed = reduced(BigInt(whole + fraction), power);
  if (!exactlyEqual(printed, number)) return false;
  const isSpelledOut = printedPower === undefined;
  return !isSpelledOut || BigInt(double) === number.digits * 10n ** BigInt(number.power);
}

class Reference {
  private at = 0;
  private keys = 0;
  private readonly text: string;
  private readonly limits: ReferenceLimits;

  constructor(text: string, limits: ReferenceLimits) {
    this.text = text;
    this.limits = limits;
  }

  whole(): ReferenceValue {
    const value = this.value(0);
    this.space();
    if (this.at !== this.text.length) throw new Refused();
    return value;
  }

  private value(depth: number): ReferenceValue {
    this.space();
    const next = this.text.charAt(this.at);
    if (next === "{") return this.object(depth + 1);
    if (next === "[") return this.array(depth + 1);
    if (next === '"') return { kind: "string", units: this.string() };
    for (const word of ["true", "false", "null"]) {
      if (this.takes(word)) return { kind: "literal", word };
    }
    return this.number();
  }

  private object(depth: number): ReferenceValue {
    const members: ReferenceMember[] = [];
    this.container(depth, "{", "}", () => {
      this.space();
      const key = String.fromCharCode(...this.string());
      this.keys += 1;
      const isForbidden = ["__proto__", "constructor", "prototype"].includes(key);
      const isTwice = members.some((member) => member.key === key);
      if (isForbidden || isTwice || this.keys > this.limits.maxKeys) throw new Refused();
      this.space();
      this.must(":");
      members.push({ key, value: this.value(depth) });
    });
    return { kind: "object", members };
  }

  private array(depth: number): ReferenceValue {
    const items: ReferenceValue[] = [];
    this.container(depth, "[", "]", () => items.push(this.value(depth)));
    return { kind: "array", items };
  }

  private container(depth: number, open: string, close: string, item: () => void): void {
    if (depth > this.limits.maxDepth) throw new Refused();
    this.must(open);
    this.space();
    if (this.takes(close)) return;
    do {
      item();
      this.space();
    } while (this.takes(","));
    this.must(close);
  }

  private string(): number[] {
    const units: number[] = [];
    this.must('"');
    while (!this.takes('"')) units.push(this.unit());
    for (let at = 0; at < units.length; at += 1) {
      const isHigh = between(units[at], 0xd800, 0xdbff);
      if (isHigh && between(units[at + 1], 0xdc00, 0xdfff)) at += 1;
      else if (between(units[at], 0xd800, 0xdfff)) throw new Refused();
    }
    return units;
  }

  private unit(): number {
    const unit = this.text.charCodeAt(this.at);
    if (Number.isNaN(unit) || unit < 0x20) throw new Refused();
    this.at += 1;
    if (unit !== 0x5c) return unit;
    const letter = this.text.charAt(this.at);
    this.at += 1;
    if (letter === "u") return this.hex();
    const index = '"\\/bfnrt'.indexOf(letter);
    if (letter === "" || index === -1) throw new Refused();
    return '"\\/\b\f\n\r\t'.charCodeAt(index);
  }

  private hex(): number {
    let value = 0;
    for (let digit = 0; digit < 4; digit += 1) {
      const letter = this.text.charAt(this.at).toLowerCase();
      const index = "0123456789abcdef".indexOf(letter);
      if (letter === "" || index === -1) throw new Refused();
      value = value * 16 + index;
      this.at += 1;
    }
    return value;
  }

  private number(): ReferenceValue {
    const isNegative = this.takes("-");
    const whole = this.digits();
    if (whole.length > 1 && whole.startsWith("0")) throw new Refused();
    const fraction = this.takes(".") ? this.digits() : "";
    let exponent = 0;
    if (this.takes("e") || this.takes("E")) {
      const isBelow = this.takes("-");
      if (!isBelow) this.takes("+");
      exponent = Number(this.digits()) * (isBelow ? -1 : 1);
    }
    const digits = BigInt(whole + fraction) * (isNegative ? -1n : 1n);
    const number = reduced(digits, exponent - fraction.length);
    if (!isAcceptable(number)) throw new Refused();
    return number;
  }

  private digits(): string {
    let digits = "";
    while (between(this.text.charCodeAt(this.at), 0x30, 0x39)) {
      digits += this.text.charAt(this.at);
      this.at += 1;
    }
    if (digits === "") throw new Refused();
    return digits;
  }

  private space(): void {
    while (this.takes(" ") || this.takes("\n") || this.takes("\r") || this.takes("\t"));
  }

  private takes(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  private must(word: string): void {
    if (!this.takes(word)) throw new Refused();
  }
}

function between(value: number | undefined, least: number, greatest: number): boolean {
  return value !== undefined && value >= least && value <= greatest;
}
