import { expect, it, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

function listFindings(text: string): readonly string[] {
  return lint(text)
    .filter(({ code }) => code === "two-forms")
    .map(({ severity, path, message, remedy }) => `${severity} ${path}: ${message}; ${remedy}`);
}

const charge = (more: string) =>
  `  charge: { effects: [{ resource: "order/{id}/payment", kind: charge }], ${more} }\n`;
const get = (more = "") => `  get: { reads: ["order/{order_id}"]${more} }\n`;
const UPPER = "normalizers: { id: [trim, to_upper] }";

test("finds a read that uses as written what a write normalizes", () => {
  expect(listFindings(`tool_schemas:\n${charge(UPPER)}${get()}`)).toEqual([
    "warning tool_schemas.get.reads[0]: `order_id` of `get` refers to the same resource as `id` of `charge`, but is used as it is written, and the other after `[trim, to_upper]`: one resource may have two names; write `normalizers: { order_id: [trim, to_upper] }` for `get`, too",
  ]);
});

test("reports differing chains for the tool with the shorter one, once per argument", () => {
  const reads = 'reads: ["order/{id}", "order/{id}/payment"]';
  const text = `tool_schemas:\n  get: { ${reads}, normalizers: { id: [x_form(a)] } }\n${charge(UPPER)}`;
  const [finding, ...more] = listFindings(text);
  expect(finding).toContain("`id` of `get` refers to the same resource as `id` of `charge`");
  expect(finding).toContain("after `[x_form(a)]`, and the other after `[trim, to_upper]`");
  expect(more).toEqual([]);
});

test("treats arguments of one alias as one", () => {
  const aliases = 'aliases: [{ resource: "order/{id}", names: [charge.order, bill.number] }]\n';
  const bill = '  bill: { effects: [{ resource: "order/{id}", kind: delete }] }\n';
  const normalized = "normalizers: { order: trim }";
  const [finding] = listFindings(`${aliases}tool_schemas:\n${charge(normalized)}${bill}`);
  expect(finding).toContain("tool_schemas.bill.effects[0]: `number` of `bill`");
  expect(finding).toContain("as `order` of `charge`");
});

it.each([
  [`${charge(UPPER)}${get(", normalizers: { order_id: [trim, to_upper] }")}`],
  // Reads do not invalidate each other's answers.
  [`  list: { reads: ["order/{id}"], ${UPPER} }\n${get()}`],
  // Neither contains the other.
  [`  refund: { effects: [{ resource: "order/{id}/refund", kind: custom }] }\n${charge(UPPER)}`],
  [`  user: { effects: [{ resource: "user/{id}", kind: delete }] }\n${charge(UPPER)}`],
  // Values in a result are not normalized.
  [`  make: { effects: [{ resource: "order/{result.id}", kind: create }] }\n${charge(UPPER)}`],
])("accepts\n%s", (tools) => {
  expect(listFindings(`tool_schemas:\n${tools}`)).toEqual([]);
});

test.each([
  ["a number beside text", "to_int", "order_id", true],
  ["a number beside nothing", "to_int", "id", false],
  ["an address beside text", "[trim, email]", "id", true],
  ["an address beside nothing, under another name", "[trim, email]", "order_id", false],
  ["a list beside text", "[sort, unique]", "id", true],
])("does not suggest what would refuse every call: %s", (_, chain, name, hasOther) => {
  const other = hasOther ? `, normalizers: { ${name}: [trim, to_upper] }` : "";
  const text = `  get: { reads: ["order/{${name}}"]${other} }\n${charge(`normalizers: { id: ${chain} }`)}`;
  expect(listFindings(`tool_schemas:\n${text}`)).toHaveLength(
    chain === "to_int" && !hasOther ? 1 : 0,
  );
});

test("reports an email beside no chain only if the arguments have one name, and two numbers always", () => {
  const get = (rest: string) => `  get: { reads: ["order/{a.id}"]${rest} }\n`;
  const email = charge("normalizers: { id: email }");
  expect(listFindings(`tool_schemas:\n${email}${get("")}`)).toHaveLength(1);
  const number = charge("normalizers: { id: [trim, to_int] }");
  expect(
    listFindings(`tool_schemas:\n${number}${get(", normalizers: { a.id: decimal }")}`),
  ).toHaveLength(1);
});

test("accepts an argument named like an inherited member", () => {
  const text = `  get: { reads: ["order/{constructor}"], normalizers: { x: trim } }\n${charge(UPPER)}`;
  expect(listFindings(`tool_schemas:\n${text}`)).toHaveLength(1);
});

test("finds nothing under `byte_hash`, which does not normalize", () => {
  const text = `deduplication: { strategy: byte_hash }\ntool_schemas:\n${charge(UPPER)}${get()}`;
  expect(listFindings(text)).toEqual([]);
});
