import { expect, test } from "vitest";
import { assertScopes } from "../../../services/gate/gate-engine.ts";
import { compiled } from "../../support/core/compile.ts";

const scoped = (scope: "conversation" | "tenant") =>
  compiled({
    tool_schemas: { pay: { effects: [{ resource: "order/{id}", kind: "charge", scope }] } },
  });

test("a log with several partitions takes no policy with `scope: tenant`", () => {
  expect(() => assertScopes(scoped("tenant"), 2)).toThrow(/`scope: tenant`, and the log has 2/);
  expect(() => assertScopes(scoped("tenant"), 1)).not.toThrow();
  expect(() => assertScopes(scoped("conversation"), 2)).not.toThrow();
});
