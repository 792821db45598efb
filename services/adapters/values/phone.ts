import type * as PhoneLibrary from "libphonenumber-js/max";
import { loadOptional, type OptionalPackage } from "../system/optional-package.ts";

/** Loaded with the first policy that uses `e164`, since its tables take long to load. */
let loading: OptionalPackage<typeof PhoneLibrary> | null = null;

function load(): OptionalPackage<typeof PhoneLibrary> {
  loading ??= loadOptional<typeof PhoneLibrary>("libphonenumber-js/max");
  return loading;
}

/** @throws Error where the library is not installed, which `findPhoneProblem` reports before. */
function library(): typeof PhoneLibrary {
  const result = load();
  if (result.ok) return result.loaded;
  throw new Error(result.problem);
}

/**
 * Why `phone` cannot normalize numbers with this region; null: it can. Without a region no national
 * spellings are accepted.
 */
export function findPhoneProblem(region: string | null): string | null {
  const result = load();
  if (!result.ok) return `\`e164\` cannot be used: ${result.problem}`;
  if (region === null || result.loaded.isSupportedCountry(region)) return null;
  return `\`${region}\` is no region of \`e164\`: write two letters, US`;
}

/**
 * Normalizes a telephone number to `+` and digits. Null where the text has anything else, where it
 * has an extension, which the digits cannot express, or where `valid` is set and no such number
 * exists.
 */
export function phone(
  text: string,
  { region, valid }: { readonly region: string | null; readonly valid: boolean },
): string | null {
  const { parsePhoneNumberFromString } = library();
  const country = region === null ? {} : { defaultCountry: region as PhoneLibrary.CountryCode };
  const parsed = parsePhoneNumberFromString(text, { ...country, extract: false });
  if (parsed === undefined || parsed.ext !== undefined) return null;
  return valid && !parsed.isValid() ? null : parsed.number;
}
