import { expect, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

function listFindings(tool: string, byDefault = "allow"): readonly string[] {
  return lint(`
authorization: { default: ${byDefault} }
tool_schemas: { pay: { read_only: false, ${tool} } }
`)
    .filter(({ code }) => code === "condition-without-rest")
    .map(({ severity, path }) => `${severity} ${path}`);
}

const WHEN = "when: { amount: { at_most: 5 } }";

test("finds a variant that allows some calls where all are allowed", () => {
  const rule = `{ ${WHEN}, tier: allow }`;
  const at = "warning tool_schemas.pay.variants.rules[0].when";
  expect(listFindings(`variants: { rules: [${rule}] }`)).toEqual([at]);
  expect(listFindings(`variants: { rules: [${rule}] }`, "ask")).toEqual([]);
  expect(listFindings(`variants: { rules: [${rule}], otherwise: { tier: deny } }`)).toEqual([]);
  expect(listFindings(`variants: { rules: [${rule}, { ${WHEN}, tier: hitl }] }`)).toEqual([]);
});

test("finds the same in rules of `commands`, which hold what is unclear", () => {
  const commands = (unclear: string) =>
    listFindings(`commands: { unclear: ${unclear}, rules: [{ run: ls, ${WHEN}, tier: allow }] }`);
  expect(commands("allow")).toEqual(["warning tool_schemas.pay.commands.rules[0].when"]);
  expect(commands("hitl")).toEqual([]);
});

test("finds nothing in a condition under which a call is a read", () => {
  expect(listFindings(`variants: { rules: [{ ${WHEN}, read_only: true }] }`)).toEqual([]);
});
