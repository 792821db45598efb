import { expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { isAlwaysEnforced, REASON_CODES } from "../../../../services/core/reasons/reasons.ts";
import { compiled } from "../../../support/core/compile.ts";

const modesOf = (document: PolicyDocument) => compiled(document).tool("any").modes;

test("balanced enforces everything except what only advises", () => {
  const modes = modesOf({});
  const advised = REASON_CODES.filter((code) => modes[code] !== "enforce");
  expect(advised).toEqual(["near_duplicate", "loop_no_progress", "loop_rotation", "failure_run"]);
  expect(new Set(advised.map((code) => modes[code]))).toEqual(new Set(["warn"]));
});

test("strict enforces everything, observe only what is always enforced", () => {
  expect(new Set(Object.values(modesOf({ preset: "strict" })))).toEqual(new Set(["enforce"]));
  const observed = modesOf({ preset: "observe" });
  for (const code of REASON_CODES) {
    expect(observed[code]).toBe(isAlwaysEnforced(code) ? "enforce" : "shadow");
  }
});

test("the mode of a tool overrides the policy's, which overrides the preset's", () => {
  const document: PolicyDocument = {
    checks: { loop_repeat: "off", loop_cycle: "warn" },
    tool_schemas: { a: { checks: { loop_repeat: "enforce" } }, b: {} },
  };
  const policy = compiled(document);
  expect(policy.tool("a").modes).toMatchObject({ loop_repeat: "enforce", loop_cycle: "warn" });
  expect(policy.tool("b").modes).toMatchObject({ loop_repeat: "off", loop_cycle: "warn" });
});

test("duplicates are off where tool_deduplication is not enabled", () => {
  const modes = modesOf({ tool_deduplication: { enabled: false } });
  const off = REASON_CODES.filter((code) => modes[code] === "off");
  expect(off).toEqual([
    "duplicate_call",
    "duplicate_in_flight",
    "outcome_unknown",
    "loop_no_progress",
    "loop_drift",
  ]);
});

test("shadow mode enforces nothing, and switches on nothing that was off", () => {
  const modes = modesOf({ mode: "shadow", checks: { loop_repeat: "off", loop_cycle: "warn" } });
  expect([modes.loop_repeat, modes.loop_cycle, modes.duplicate_call, modes.malformed]).toEqual([
    "off",
    "shadow",
    "shadow",
    "enforce",
  ]);
});
