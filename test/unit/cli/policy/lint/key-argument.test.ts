import { expect, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

function listFindings(tool: string): readonly string[] {
  return lint(`tool_schemas: { pay: { ${tool} } }`)
    .filter(({ code }) => code === "key-argument")
    .map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
}

const effect = (argument: string) => `effects: [{ resource: "bill/{${argument}}", kind: create }]`;

test.each([
  ["key", "key"],
  ["options.key", "options.key"],
  ["key.id", "key"],
])("finds that an effect on %s is never identified if %s carries the key", (argument, key) => {
  const [finding, ...more] = listFindings(`${effect(argument)}, idempotency_argument: ${key}`);
  expect(finding).toContain(`error tool_schemas.pay.effects[0]: \`${argument}\` carries the`);
  expect(finding).toContain("refuses every call");
  expect(more).toEqual([]);
});

test("finds the same for reads", () => {
  const [finding] = listFindings('reads: ["bill/{ key }"], idempotency_argument: key');
  expect(finding).toContain("error tool_schemas.pay.reads[0]: `key` carries");
});

test.each([
  ["commands: shell, idempotency_argument: command", "`command` says what a call of `pay`"],
  ["commands: { language: sql, argument: body.sql }, idempotency_argument: body", "`body` says"],
  [
    "commands: { language: sql, argument: body }, idempotency_argument: body.key",
    "`body.key` says",
  ],
])("finds a class argument that the key overwrites: %s", (tool, message) => {
  const [finding] = listFindings(tool);
  expect(finding).toContain("error tool_schemas.pay.idempotency_argument: ");
  expect(finding).toContain(message);
});

test.each([
  `${effect("id")}, idempotency_argument: key`,
  `${effect("options.keys")}, idempotency_argument: options.key`,
  `${effect("options")}, idempotency_argument: options.key`,
  effect("key"),
  "commands: shell, idempotency_argument: key",
])("accepts %s", (tool) => {
  expect(listFindings(tool)).toEqual([]);
});

test.each([
  ["{ type: string, format: uuid }", true],
  ["{ type: integer }", true],
  ["{ type: string, maxLength: 40 }", true],
  ["{ type: [string, 'null'], maxLength: 64 }", false],
  ["{}", false],
])("finds a schema that may not take the key: %s", (key, isFinding) => {
  const schema = `{ type: object, properties: { key: ${key} } }`;
  const findings = listFindings(`input_schema: ${schema}, idempotency_argument: key`);
  expect(findings.map((one) => one.includes("may not take the key"))).toEqual(
    isFinding ? [true] : [],
  );
});
