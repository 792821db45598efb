/**
 * The claims of workers, as the journal has them: the `executorId` of a `started` report.
 *
 * The first `started` of a call that the journal records begins it; the gate ignores later ones, and
 * journals them all the same. So they renew a lease, give a claim back (a lease of 0 s), or take one
 * over that was given back, and every server reads the same from them.
 */
import { randomBytes } from "node:crypto";
import { WORKER } from "../../client/journal/recent-calls.ts";

export type WorkerClaim = {
  /** Only the server and the worker that has the claim know it. */
  readonly id: string;
  /** The claim that was given back before it; null: the first one. */
  readonly after: string | null;
  /** 0: the claim is given back. */
  readonly leaseSeconds: number;
  /** The worker's name for itself. */
  readonly worker: string;
};

const ID_BYTES = 12;
const CLAIM = /^worker:([0-9a-f]{24}):([0-9a-f]{24})?:(\d{1,5}):(.+)$/s;
const EXECUTION = /^([0-9a-f]{32})\.([0-9a-f]{24})$/;

export function newClaimId(): string {
  return randomBytes(ID_BYTES).toString("hex");
}

export function claimText({ id, after, leaseSeconds, worker }: WorkerClaim): string {
  return `${WORKER}${id}:${after ?? ""}:${Math.ceil(leaseSeconds)}:${worker}`;
}

/** Null: the text names no claim of a worker. */
export function parseClaim(text: string | undefined): WorkerClaim | null {
  const [, id, after = null, lease, worker] = CLAIM.exec(text ?? "") ?? [];
  if (id === undefined || worker === undefined) return null;
  return { id, after, leaseSeconds: Number(lease), worker };
}

export type ExecutionName = { readonly decisionId: string; readonly claimId: string };

export function executionIdOf({ decisionId, claimId }: ExecutionName): string {
  return `${decisionId}.${claimId}`;
}

/** Null: no server makes such an id. */
export function parseExecutionId(text: string): ExecutionName | null {
  const [, decisionId, claimId] = EXECUTION.exec(text) ?? [];
  return decisionId === undefined || claimId === undefined ? null : { decisionId, claimId };
}
