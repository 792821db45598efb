/** Amounts of money in the smallest unit of their currency. */
import type { JsonObject } from "../canonical/json-value.ts";
import { getArgument } from "../policy/argument-path.ts";
import { cannot, type MakeNormalizer, type Normalized, normalized } from "./normalizer.ts";
import { decimal } from "./numbers.ts";

/** Digits after the point by ISO 4217, where they are not two. */
const OTHER_DIGITS: ReadonlyMap<string, number> = new Map([
  ...codes("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF", 0),
  ...codes("BHD IQD JOD KWD LYD OMR TND", 3),
  ...codes("CLF UYW", 4),
]);

const TWO_DIGITS: ReadonlySet<string> = new Set(
  (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD " +
    "CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS " +
    "GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL " +
    "MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK " +
    "PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS " +
    "TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"
  ).split(" "),
);

function codes(text: string, digits: number): readonly (readonly [string, number])[] {
  return text.split(" ").map((code) => [code, digits] as const);
}

const DEFAULT_DIGITS = 2;
const CODE = /^[A-Z]{3}$/;

/**
 * `minor_units(USD)`: a whole number of cents. `minor_units(currency)` takes the code from that
 * argument of the call; without a parameter the amount has two digits. An amount with more digits
 * than the currency has is refused.
 */
export const minorUnits: MakeNormalizer = ([currency]) => {
  if (currency === undefined) return (value, caps) => shift(decimal(value, caps), DEFAULT_DIGITS);
  if (!CODE.test(currency)) {
    return (value, caps, args) => {
      const digits = digitsOfArgument(args ?? {}, currency);
      if (digits !== null) return shift(decimal(value, caps), digits);
      return cannot(`\`minor_units\` needs a currency code in \`${currency}\``);
    };
  }
  const digits = digitsOf(currency);
  if (digits === null) return { ok: false, problem: `\`${currency}\` is no currency of ISO 4217` };
  return (value, caps) => shift(decimal(value, caps), digits);
};

function digitsOfArgument(args: JsonObject, path: string): number | null {
  const code = getArgument(args, path);
  return typeof code === "string" ? digitsOf(code.trim().toUpperCase()) : null;
}

function digitsOf(code: string): number | null {
  return OTHER_DIGITS.get(code) ?? (TWO_DIGITS.has(code) ? DEFAULT_DIGITS : null);
}

/** The most digits that a currency has after the point. */
const ZEROS = "0000";

function shift(amount: Normalized, digits: number): Normalized {
  if (!amount.ok || "omit" in amount) return cannot("`minor_units` needs a decimal number");
  const text = String(amount.value);
  const point = text.indexOf(".");
  const fraction = point < 0 ? "" : text.slice(point + 1);
  if (fraction.length > digits) {
    return cannot(`\`minor_units\` needs at most ${digits} digits after the point`);
  }
  const whole = point < 0 ? text : text.slice(0, point);
  const units = Number(whole + fraction + ZEROS.slice(fraction.length, digits));
  if (!Number.isSafeInteger(units)) {
    return cannot("`minor_units` needs an amount that a double holds exactly");
  }
  return normalized(units === 0 ? 0 : units);
}
