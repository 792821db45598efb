import { expect, test } from "vitest";
import { standingOf, type Told } from "../../../services/executor/standing.ts";

const OURS: Told = { status: "started", executorId: "ours" };
const THEIRS: Told = { status: "started", executorId: "theirs" };
const given = (status: Told["status"], executorId = "theirs"): Told => ({ status, executorId });

test.each<readonly [standing: string, told: readonly Told[]]>([
  ["unclaimed", []],
  ["claimed", [OURS]],
  ["claimed", [OURS, OURS]],
  ["given_up", [OURS, given("unknown")]],
  ["given_up", [OURS, { status: "unknown" }]],
  ["elsewhere", [THEIRS]],
  ["elsewhere", [{ status: "started" }]],
  ["elsewhere", [OURS, THEIRS]],
  ["elsewhere", [THEIRS, OURS, given("unknown")]],
  ["elsewhere", [given("unknown")]],
  ["elsewhere", [OURS, given("succeeded")]],
  ["elsewhere", [OURS, given("failed")]],
  ["elsewhere", [OURS, given("not_executed")]],
  ["elsewhere", [OURS, given("unknown"), given("succeeded")]],
  // We began it, and gave it up ourselves.
  ["elsewhere", [OURS, given("unknown", "ours")]],
])("is %s by %j", (standing, told) => {
  expect(standingOf(told, "ours")).toBe(standing);
});
