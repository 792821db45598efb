import { createRequire } from "node:module";
import type * as PhoneLibrary from "libphonenumber-js/max";

const require = createRequire(import.meta.url);

/** Loaded with the first policy that uses `e164`, since its tables take long to load. */
let loaded: typeof PhoneLibrary | null = null;

function library(): typeof PhoneLibrary {
  loaded ??= require("libphonenumber-js/max") as typeof PhoneLibrary;
  return loaded;
}

export function isPhoneRegion(region: string): boolean {
  return library().isSupportedCountry(region);
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
