import { expect, test } from "vitest";
import { readClaimStatus, type StatusReport } from "../../../services/executor/read-results.ts";

const OURS: StatusReport = { status: "started", executorId: "ours" };
const THEIRS: StatusReport = { status: "started", executorId: "theirs" };
const given = (status: StatusReport["status"], executorId = "theirs"): StatusReport => ({
  status,
  executorId,
});

test.each<readonly [standing: string, told: readonly StatusReport[]]>([
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
  expect(readClaimStatus(told, "ours")).toBe(standing);
});
