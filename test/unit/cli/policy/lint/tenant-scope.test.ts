import { expect, test } from "vitest";
import { loadPolicy } from "../../../../../services/adapters/policy/load.ts";
import { lintForKafka } from "../../../../../services/cli/policy/lint/tenant-scope.ts";
import { lintPolicy } from "../../../../../services/cli/policy/lint.ts";

const POLICY = `
tool_schemas:
  pay:
    effects: [{ resource: "order/{id}", kind: charge, scope: tenant }]
    variants:
      argument: mode
      rules: [{ match: draft, effects: [{ resource: "draft/{id}", kind: create, scope: tenant }] }]
  plain: { effects: [{ resource: "bill/{id}", kind: charge }] }
`;

test("for Kafka, each effect with `scope: tenant` is an error at its line", () => {
  const loaded = loadPolicy([{ name: "p.yaml", text: POLICY }]);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { document, source } = loaded;
  const errors = lintPolicy(document, source, [lintForKafka]).filter(
    ({ code }) => code === "tenant-scope-on-kafka",
  );
  expect(errors.map(({ severity, line, path }) => `${severity} ${line} ${path}`)).toEqual([
    "error 4 tool_schemas.pay.effects[0].scope",
    "error 7 tool_schemas.pay.variants.rules[0].effects[0].scope",
  ]);
  const plain = lintPolicy(document, source).map(({ code }) => code);
  expect(plain).not.toContain("tenant-scope-on-kafka");
});
