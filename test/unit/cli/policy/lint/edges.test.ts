import { expect, it, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

function listFindings(tools: string, edges = 'derives: [["order/{id}", "invoice/{id}"]]') {
  return lint(`edges: { ${edges} }\ntool_schemas: { ${tools} }`)
    .filter(({ code }) => code === "idle-edge")
    .map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
}

const charge = 'charge: { effects: [{ resource: "order/{number}/payment", kind: charge }] }';
const pay = 'pay: { effects: [{ resource: "invoice/{id}", kind: charge }] }';

test("finds an edge whose side no tool touches itself", () => {
  expect(listFindings(`${charge}, ${pay}`)).toEqual([
    "warning edges.derives[0][0]: no tool acts on `order/{id}` itself, only on what it contains, such as `order/{number}/payment`, to which the edge does not apply",
  ]);
});

it.each([
  ["somebody acts on it", `${charge}, get: { reads: ["order/{order_id}"] }`],
  [
    "a variant acts on it",
    `${charge}, x: { variants: { argument: a, rules: [{ equals: d, effects: [{ resource: "order/{id}", kind: delete }] }] } }`,
  ],
  ["nobody acts on anything in it", pay],
])("accepts an edge if %s", (_why, tools) => {
  expect(listFindings(tools)).toEqual([]);
});

test("accepts a resource that an ancestor contains through another", () => {
  expect(listFindings(charge, 'contains: [["project/{id}", "order/{id}"]]')).toEqual([]);
});
