import { describe, expect, test } from "vitest";
import type { ToolDocument } from "../../../../services/core/policy/document.ts";
import { compiled } from "../../../support/core/compile.ts";

const namesNoObject = (tool: ToolDocument): boolean =>
  compiled({ tool_schemas: { tool } }).tool("tool").namesNoObject;

describe("a tool that names no object", () => {
  test.each([
    { type: "object", properties: {} },
    { type: "object", properties: {}, required: [] },
    { type: "object", additionalProperties: false },
  ])("has a schema without parameters: %j", (input_schema) => {
    expect(namesNoObject({ input_schema })).toBe(true);
  });

  // A schema allows what it does not mention: such a tool may be told what to work on.
  test.each([
    {},
    { type: "object" },
    { type: "object", properties: {}, required: ["id"] },
    { type: "object", properties: {}, minProperties: 1 },
    { type: "object", properties: {}, additionalProperties: true },
    { properties: { id: {} } },
    { properties: {}, anyOf: [{ required: ["id"] }] },
  ])("has no schema that leaves arguments open: %j", (input_schema) => {
    expect(namesNoObject({ input_schema })).toBe(false);
  });

  test("has a schema and no exclusive effect", () => {
    const input_schema = { type: "object", properties: {} };
    expect(namesNoObject({})).toBe(false);
    expect(namesNoObject({ input_schema, side_effect_resource: "invoice" })).toBe(false);
    expect(namesNoObject({ input_schema, effects: [{ resource: "lamp", kind: "update" }] })).toBe(
      true,
    );
  });
});

test("a call must start within a minute and may run for a minute by default", () => {
  const { startWithinMs, timeLimitMs } = compiled({}).tool("any");
  expect([startWithinMs, timeLimitMs]).toEqual([60_000, 60_000]);
});
