// The Big List of Naughty Strings: distinct strings stay distinct wherever the gate uses them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import { actionDigest, decisionIdOf } from "../../../services/core/hash.ts";
import { sharedData } from "../../support/shared-data.ts";

const data = sharedData("conformance/blns");

function naughtyStrings(): readonly string[] {
  const list = JSON.parse(readFileSync(join(data.path, "blns.json"), "utf8")) as string[];
  return [...new Set(list)];
}

function canonicalOf(value: unknown): string {
  const result = parseCanonical(JSON.stringify(value));
  expect(result.ok, JSON.stringify(value)).toBe(true);
  return result.ok ? result.text : "";
}

function isForbiddenKey(text: string): boolean {
  return ["__proto__", "constructor", "prototype"].includes(text);
}

describe.skipIf(!data.available)("naughty strings", () => {
  it("have 511 distinct digests as values, and survive a round trip", () => {
    const strings = naughtyStrings();
    const digests = strings.map((text) => {
      const canonical = canonicalOf({ note: text });
      expect((JSON.parse(canonical) as { note: string }).note).toBe(text);
      return actionDigest("send", canonical);
    });
    expect(strings).toHaveLength(511);
    expect(new Set(digests).size).toBe(511);
  });

  it("have distinct digests as keys", () => {
    const keys = naughtyStrings().filter((text) => !isForbiddenKey(text));
    const digests = keys.map((key) =>
      actionDigest("send", canonicalOf(Object.fromEntries([[key, 1]]))),
    );
    expect(new Set(digests).size).toBe(keys.length);
  });

  it("have distinct digests as keys with every character escaped", () => {
    for (const key of naughtyStrings().filter((text) => !isForbiddenKey(text))) {
      const escaped = [...Array(key.length).keys()]
        .map((at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, "0")}`)
        .join("");
      const result = parseCanonical(`{"${escaped}":1}`);
      expect(result.ok && result.text).toBe(canonicalOf(Object.fromEntries([[key, 1]])));
    }
  });

  it("have distinct digests as tool names", () => {
    const digests = naughtyStrings().map((tool) => actionDigest(tool, "{}"));
    expect(new Set(digests).size).toBe(511);
  });

  it.each(["tenantId", "conversationId", "turn", "step", "callId"] as const)(
    "have distinct decision ids as a %s",
    (field) => {
      const name = { tenantId: "t", conversationId: "c", turn: "1", step: "1", callId: "x" };
      const ids = naughtyStrings().map((text) =>
        decisionIdOf({ ...name, [field]: text }, "send", "digest"),
      );
      expect(new Set(ids).size).toBe(511);
    },
  );
});
