import { type MakeNormalizer, textOr } from "./normalizer.ts";

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
  if (region !== null && !capabilities.isPhoneRegion(region)) {
    return { ok: false, problem: `\`${region}\` is no region of \`e164\`: write two letters, US` };
  }
  const wanted = [
    check === undefined ? "a telephone number" : "a telephone number that exists",
    region === null ? " with its country code" : "",
  ].join("");
  const options = { region, valid: check !== undefined };
  return textOr("e164", wanted, (text, { phone }) => phone(text, options));
};
