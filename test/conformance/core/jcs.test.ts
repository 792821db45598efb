// RFC 8785: the published vectors, and the first 100,000 lines of the published number file.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { canonicalText } from "../../../services/core/canonical/canonical-text.ts";
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import { sharedData } from "../../support/shared-data.ts";

const data = sharedData("conformance/jcs/testdata");

/**
 * Lines whose number is an integer between 2^53 and 1e21 that the canonical form rounds: the form
 * does not spell the double, so that a reader of exact integers would see another value. Such a
 * number is printed as RFC 8785 wants, and refused where it comes in.
 */
const ROUNDED_INTEGERS = 671;

function isRounded(double: number, printed: string): boolean {
  return /^-?[0-9]+$/.test(printed) && BigInt(double) !== BigInt(printed);
}

function vector(folder: string, name: string): Buffer {
  return readFileSync(join(data.path, folder, name));
}

function doubleOf(hex: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${hex}`));
  return view.getFloat64(0);
}

type Outcome = "kept" | "rounded" | "wrong";

function outcomeOf(line: string): Outcome {
  const [hex, expected] = line.split(",") as [string, string];
  const double = doubleOf(hex);
  const read = parseCanonical(expected);
  // Reads each number alone and in an array.
  const inArray = parseCanonical(`[${expected}]`);
  if (canonicalText(double) !== expected || read.ok !== inArray.ok) return "wrong";
  if (!read.ok) {
    return read.code === "number_not_exact" && isRounded(double, expected) ? "rounded" : "wrong";
  }
  const isSame = read.text === expected && read.value === (double === 0 ? 0 : double);
  return isSame && inArray.ok && inArray.text === `[${expected}]` ? "kept" : "wrong";
}

describe.skipIf(!data.available)("RFC 8785", () => {
  it("produces the published bytes for the six published inputs", () => {
    const names = readdirSync(join(data.path, "input"));
    for (const name of names) {
      const result = parseCanonical(vector("input", name));
      expect(result.ok, name).toBe(true);
      if (!result.ok) continue;
      const bytes = Buffer.from(result.text, "utf8");
      expect(bytes.equals(vector("output", name)), name).toBe(true);
      const hex = vector("outhex", name.replace(".json", ".txt")).toString("utf8");
      expect(bytes.toString("hex"), name).toBe(hex.replaceAll(/\s/g, ""));
    }
    expect(names).toHaveLength(6);
  });

  it("prints and reads back 100,000 numbers", () => {
    const gzip = vector(".", "es6testfile-100000.txt.gz");
    const lines = gunzipSync(gzip).toString("ascii").trimEnd().split("\n");
    const outcomes = lines.map(outcomeOf);
    expect(lines.filter((_, at) => outcomes[at] === "wrong")).toEqual([]);
    expect(lines).toHaveLength(100_000);
    expect(outcomes.filter((outcome) => outcome === "rounded")).toHaveLength(ROUNDED_INTEGERS);
  });
});
