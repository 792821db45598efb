import { describe, expect, test } from "vitest";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import { incompatibility, withField, withRecord } from "../../support/wire/schema-walk.ts";

const files = readSchemaFiles();
const journal = files.current["decision-event"];

describe("a reader with the current schema reads what a released one wrote", () => {
  test.each(files.released)("$name of $version", ({ name, schema }) => {
    expect(incompatibility(files.current[name], schema)).toBeUndefined();
  });

  test("and every schema has been released", () => {
    const released = new Set(files.released.map(({ name }) => name));
    expect([...released].sort()).toEqual(Object.keys(files.current).sort());
  });
});

describe("rejects an incompatible change", () => {
  test("a new field without a default", () => {
    const field = { name: "added", type: "string" };
    const next = withRecord(journal, "CallHeld", (record) => ({
      ...record,
      fields: [...record.fields, field],
    }));
    expect(incompatibility(next, journal)).toBeDefined();
  });

  test("a field of another type, deep in a nullable record in a list", () => {
    const next = withField(journal, ["CallAllowed", "timeLimitMs"], (field) => ({
      ...field,
      type: "string",
    }));
    expect(incompatibility(next, journal)).toBeDefined();
  });

  test("a nullable field that becomes required", () => {
    const next = withField(journal, ["DecidedPolicy", "tier"], (field) => ({
      name: field.name,
      type: "string",
    }));
    expect(incompatibility(next, journal)).toBeDefined();
  });

  test("a record of another name", () => {
    const next = withRecord(journal, "Refusal", (record) => ({ ...record, name: "Denial" }));
    expect(incompatibility(next, journal)).toBeDefined();
  });

  test("a renamed field", () => {
    const next = withField(journal, ["DecisionEvent", "seq"], (field) => ({
      ...field,
      name: "sequence",
    }));
    expect(incompatibility(next, journal)).toMatch(/sequence/);
  });
});

describe("accepts a compatible change", () => {
  test("a new nullable field with default null", () => {
    const next = withRecord(journal, "CallHeld", (record) => ({
      ...record,
      fields: [...record.fields, { name: "added", type: ["null", "string"], default: null }],
    }));
    expect(incompatibility(next, journal)).toBeUndefined();
  });

  test("a removed field", () => {
    const next = withField(journal, ["DecidedPolicy", "tier"], () => undefined);
    expect(incompatibility(next, journal)).toBeUndefined();
  });

  test("an int that becomes a long", () => {
    const next = withField(journal, ["CallFacts", "recentCallsMax"], (field) => ({
      ...field,
      type: "long",
    }));
    expect(incompatibility(next, journal)).toBeUndefined();
  });
});
