/** What a worker does with a call that it has claimed: renew, give back, report. */
import type { ReportOutcome } from "../../client/api/gate-types.ts";
import type { JudgedReport } from "../../client/inputs/report.ts";
import type { Principal } from "../access/principal.ts";
import { Problem } from "../http/problem.ts";
import { findCall, type ServedGate } from "../served-gate.ts";
import { type ClaimHistory, readClaimHistory } from "./claim-history.ts";
import type { Executions } from "./executions.ts";
import { type HeldClaim, isHeld, type OpenExecution } from "./open-executions.ts";
import { claimText, type ExecutionName, executionIdOf, parseExecutionId } from "./worker-claim.ts";

export type WorkerRequest = {
  readonly served: ServedGate;
  readonly executions: Executions;
  readonly principal: Principal;
  readonly executionId: string;
};

type Held = { readonly call: OpenExecution; readonly claim: HeldClaim };

/** @returns when the lease ends now. @throws Problem 404, 409 */
export async function renewExecution(
  request: WorkerRequest,
  leaseSeconds: number | undefined,
): Promise<number> {
  const name = await nameOf(request);
  const held = heldBy(request, name);
  if (held === null) throw await notHeld(request, name);
  const { executions, served } = request;
  await executions.renew(held.call, held.claim, leaseSeconds ?? held.claim.leaseSeconds);
  const renewed = heldBy(request, name);
  if (renewed === null) throw await notHeld(request, name);
  const { leaseEndMs } = renewed.claim;
  if (leaseEndMs > served.clock.nowMs()) return leaseEndMs;
  throw new Problem({
    status: 409,
    code: "time_limit",
    detail: `the call has run longer than its ${held.call.timeLimitMs} ms`,
    at: "executionId",
    remedy: "Stop the tool, and report how it ended to the path `/result` of the execution",
  });
}

/** Gives a call back that the worker has not begun. @throws Problem 404, 409 */
export async function releaseExecution(request: WorkerRequest): Promise<void> {
  const name = await nameOf(request);
  const held = heldBy(request, name);
  if (held !== null) return await request.executions.giveBack(held.call, held.claim);
  // The answer to an earlier request may have been lost.
  const history = await historyOf(request, name);
  if (history.type !== "released") throw problemOf(history, name);
}

/** @throws Problem 404; 409 after the lease was lost, with whether the report counts */
export async function reportExecution(
  request: WorkerRequest,
  report: JudgedReport,
): Promise<ReportOutcome> {
  const { served } = request;
  const name = await nameOf(request);
  const held = heldBy(request, name);
  if (held !== null) {
    const claim = claimText(held.claim);
    const outcome = await served.client.reportJudged(name.decisionId, report, claim);
    if (outcome.recorded) return outcome;
  }
  const history = await historyOf(request, name);
  if (history.type === "reported") return { recorded: true, status: history.status };
  if (history.type !== "lost") throw problemOf(history, name);
  const claim = lateClaim(name, history);
  const late = await served.client.reportJudged(name.decisionId, report, claim);
  throw lateReport(late, name);
}

/** @throws Problem 404 where no call has the id, or the principal may not know of it */
async function nameOf({ served, executions, principal, executionId }: WorkerRequest) {
  const name = parseExecutionId(executionId);
  if (name === null) throw unknownExecution(executionId);
  await findCall(served, name.decisionId, principal).catch((error: unknown) => {
    const isUnknown = error instanceof Problem && error.parts.status === 404;
    throw isUnknown ? unknownExecution(executionId) : error;
  });
  await executions.ready();
  return name;
}

function heldBy({ executions }: WorkerRequest, name: ExecutionName): Held | null {
  const call = executions.get(name.decisionId);
  if (call?.claim?.id !== name.claimId || !isHeld(call)) return null;
  return { call, claim: call.claim };
}

async function historyOf(
  { served, principal }: WorkerRequest,
  { decisionId, claimId }: ExecutionName,
): Promise<ClaimHistory> {
  const call = await findCall(served, decisionId, principal);
  return await readClaimHistory(served, call, claimId);
}

async function notHeld(request: WorkerRequest, name: ExecutionName): Promise<Problem> {
  return problemOf(await historyOf(request, name), name);
}

function lateClaim({ claimId }: ExecutionName, { worker }: ClaimHistory & { type: "lost" }) {
  return claimText({ id: claimId, after: null, leaseSeconds: 0, worker });
}

function problemOf(history: ClaimHistory, name: ExecutionName): Problem {
  switch (history.type) {
    case "none":
      return unknownExecution(executionIdOf(name));
    case "released":
      return new Problem({
        status: 409,
        code: "execution_released",
        detail: "the worker gave the call back: another one may have begun it",
        at: "executionId",
        remedy:
          "Do not run it. If it ran all the same, compare with the result of its decision, and settle it with `callgate calls reconcile`",
      });
    case "reported":
      return new Problem({
        status: 409,
        code: "already_reported",
        detail: `the end of the call is reported already: ${history.status}`,
        at: "executionId",
        remedy: `Read it with GET /v1/results/${name.decisionId}`,
      });
    case "lost":
      return new Problem({
        status: 409,
        code: "lease_lost",
        detail: "the lease was over before it was renewed: the outcome of the call is `unknown`",
        at: "executionId",
        remedy:
          "Stop the tool, and report how it ended to the path `/result` of the execution: that settles the call",
      });
  }
}

function lateReport(outcome: ReportOutcome, { decisionId }: ExecutionName): Problem {
  if (outcome.recorded) {
    return new Problem({
      status: 409,
      code: "late_result_recorded",
      detail: `the lease was over before the report came; it is recorded, and settles the call: ${outcome.status}`,
      at: "executionId",
      remedy: "Do not send it again. Renew leases in time: until now the outcome was `unknown`",
    });
  }
  return new Problem({
    status: 409,
    code: "late_result_ignored",
    detail: `the lease was over before the report came, and it changed nothing: ${outcome.why}`,
    at: "executionId",
    remedy: `Compare with GET /v1/results/${decisionId}; a person settles it with \`callgate calls reconcile\``,
  });
}

function unknownExecution(executionId: string): Problem {
  return new Problem({
    status: 404,
    code: "unknown_execution",
    detail: `there is no execution \`${executionId}\``,
    at: "executionId",
    remedy: "Use an `executionId` of an answer to POST /v1/executions",
  });
}
