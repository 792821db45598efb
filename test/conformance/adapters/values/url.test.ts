// The web platform's URL cases. The normalizer takes absolute URLs, so the test resolves a case with a base
// first; the normalizer must leave the result unchanged.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { url } from "../../../../services/adapters/values/url.ts";
import { sharedData } from "../../../support/shared-data.ts";

const data = sharedData("conformance/wpt-url");

type UrlCase = {
  readonly input: string;
  readonly base: string | null;
  readonly href?: string;
  readonly failure?: boolean;
};

/**
 * Inputs on which Node 20.20.2 does not follow the newest rules: spaces at the end of an opaque path
 * are to be encoded, labels that begin with `xn--` are to be let pass or refused, `^` in a path is to
 * be encoded. A newer Node may follow more of them, and none that is not listed here.
 */
const EXCEPTIONS: readonly string[] = [
  "non-special:opaque  ?hi",
  "non-special:opaque  #hi",
  "non-special:opaque \t\t  \t#hi",
  "non-special:opaque \t\t  #hi",
  "non-special:opaque\t\t  \r #hi",
  "http://a.b.c.xn--pokxncvks",
  "http://10.0.0.xn--pokxncvks",
  "http://a.b.c.XN--pokxncvks",
  "http://a.b.c.Xn--pokxncvks",
  "http://10.0.0.XN--pokxncvks",
  "http://10.0.0.xN--pokxncvks",
  "file://xn--/p",
  "foo://host/ !\"$%&'()*+,-./:;<=>@[\\]^_`{|}~",
  "wss://host/ !\"$%&'()*+,-./:;<=>@[\\]^_`{|}~",
  "https://xn--/",
];

function cases(): readonly UrlCase[] {
  const text = readFileSync(join(data.path, "urltestdata.json"), "utf8");
  const entries = JSON.parse(text) as (string | UrlCase)[];
  return entries.filter((entry) => typeof entry !== "string");
}

function normalize({ input, base }: UrlCase): string | null {
  if (base === null) return url(input);
  return URL.canParse(input, base) ? url(new URL(input, base).href) : null;
}

describe.skipIf(!data.available)("WPT URL cases", () => {
  it("agree with the normalizer, except for the listed ones", () => {
    const all = cases();
    const disagreeing = all
      .filter((entry) => normalize(entry) !== (entry.failure === true ? null : entry.href))
      .map((entry) => entry.input);
    expect(all).toHaveLength(891);
    if (process.versions.node === "20.20.2") expect(disagreeing).toEqual(EXCEPTIONS);
    else expect(disagreeing.filter((input) => !EXCEPTIONS.includes(input))).toEqual([]);
  });

  it("have one form after the normalizer", () => {
    for (const entry of cases()) {
      const href = normalize(entry);
      if (href !== null) expect(url(href)).toBe(href);
    }
  });
});
