import { expect, test } from "vitest";
import { readClaimStatus, type StatusReport } from "../../../services/executor/read-results.ts";

const OURS: StatusReport = { status: "started", executorId: "ours" };
const THEIRS: StatusReport = { status: "started", executorId: "theirs" };
const makeReport = (status: StatusReport["status"], executorId = "theirs"): StatusReport => ({
  status,
  executorId,
});

test.each<readonly [status: string, reports: readonly StatusReport[]]>([
  ["unclaimed", []],
  ["claimed", [OURS]],
  ["claimed", [OURS, OURS]],
  ["given_up", [OURS, makeReport("unknown")]],
  ["given_up", [OURS, { status: "unknown" }]],
  ["elsewhere", [THEIRS]],
  ["elsewhere", [{ status: "started" }]],
  ["elsewhere", [OURS, THEIRS]],
  ["elsewhere", [THEIRS, OURS, makeReport("unknown")]],
  ["elsewhere", [makeReport("unknown")]],
  ["elsewhere", [OURS, makeReport("succeeded")]],
  ["elsewhere", [OURS, makeReport("failed")]],
  ["elsewhere", [OURS, makeReport("not_executed")]],
  ["elsewhere", [OURS, makeReport("unknown"), makeReport("succeeded")]],
  // We began the call, and gave it up ourselves.
  ["elsewhere", [OURS, makeReport("unknown", "ours")]],
])("is %s after %j", (status, reports) => {
  expect(readClaimStatus(reports, "ours")).toBe(status);
});
