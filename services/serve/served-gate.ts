import type { Callgate } from "../client/api/callgate.ts";
import type { GateClient } from "../client/gate-client.ts";
import type { GateLink } from "../client/gate-link.ts";
import type { JournaledCall } from "../client/journal/recent-calls.ts";
import type { GatePolicy } from "../gate/gate-policy.ts";
import type { Clock, Logger } from "../runtime/ports.ts";
import { maySee, type Principal } from "./access/principal.ts";
import { Problem } from "./http/problem.ts";

/** The gate behind the routes: in this process, or on Kafka. */
export type ServedGate = {
  readonly gate: Callgate;
  readonly client: GateClient;
  /** Reads the journal: `link.log`, `link.codec`. */
  readonly link: GateLink;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The policy in force; for a gate on Kafka the one that the server's configuration names. Absent:
   * there is none. @throws ExitError if its files cannot be read or have problems
   */
  readonly policy?: (() => Promise<GatePolicy>) | undefined;
};

/** The call of a decision. @throws Problem 404 if the principal may not know of it */
export async function findCall(
  { client }: ServedGate,
  decisionId: string,
  principal: Principal,
): Promise<JournaledCall> {
  const call = await client.reader.find(decisionId, client.timeFor(decisionId));
  if (call !== undefined && maySee(principal, call)) return call;
  throw new Problem({
    status: 404,
    code: "unknown_decision",
    detail: `there is no decision \`${decisionId}\``,
    remedy: "Use the `decisionId` of an answer to POST /v1/proposals",
  });
}

/** The call of a hold, decided or not. @throws Problem 404 if the principal may not know of it */
export async function findHold(
  { client }: ServedGate,
  approvalId: string,
  principal: Principal,
): Promise<JournaledCall> {
  const call = await client.reader.findHeld(approvalId, client.timeFor(approvalId));
  if (call !== undefined && maySee(principal, call)) return call;
  throw new Problem({
    status: 404,
    code: "unknown_approval",
    detail: `no call is or was held under \`${approvalId}\``,
    remedy: "List the held calls with GET /v1/approvals",
  });
}
