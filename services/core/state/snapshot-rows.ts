/**
 * Records of the state as rows: their members in a fixed order, without names. This keeps a
 * snapshot short.
 */

import type { EffectHolder, Execution, Strike } from "../events.ts";
import {
  type AskedCall,
  NO_TROUBLE,
  type OpenCall,
  type PriorCall,
  type RecentCall,
  type Sketched,
  type Trouble,
} from "./state.ts";

/** Converts one kind of record to a row and back. */
export interface RowOf<T, R> {
  readonly pack: (record: T) => R;
  readonly unpack: (row: R) => T;
}

export const EXECUTION_ROW: RowOf<Execution, readonly [string, number, number]> = {
  pack: ({ decisionId, openedAtMs, attempt }) => [decisionId, openedAtMs, attempt],
  unpack: ([decisionId, openedAtMs, attempt]) => ({ decisionId, openedAtMs, attempt }),
};

const packPriorCall = (priorCall: PriorCall) =>
  [
    priorCall.decisionId,
    priorCall.callId,
    priorCall.tool,
    priorCall.n,
    priorCall.atMs,
    priorCall.turn,
    priorCall.turnIndex,
    priorCall.step,
    priorCall.status,
    priorCall.windowUntilMs,
    priorCall.execution === null ? null : EXECUTION_ROW.pack(priorCall.execution),
    priorCall.repeats,
    priorCall.output,
    priorCall.outputDigest,
    priorCall.outputBytes,
    priorCall.whole,
    priorCall.lastDigest,
    priorCall.sameOutputs,
    packTrouble(priorCall.trouble),
    priorCall.keyId,
    priorCall.wrote,
  ] as const;

const packTrouble = (trouble: Trouble) => {
  if (trouble === NO_TROUBLE) return null;
  const { errorMessage, effect, doubted, failure } = trouble;
  const row =
    failure === null
      ? null
      : ([failure.count, failure.atMs, failure.code, failure.retryable] as const);
  return [errorMessage, effect, doubted, row] as const;
};

function unpackTrouble(row: ReturnType<typeof packTrouble>): Trouble {
  if (row === null) return NO_TROUBLE;
  const [errorMessage, effect, doubted, of] = row;
  const failure = of === null ? null : { count: of[0], atMs: of[1], code: of[2], retryable: of[3] };
  return { errorMessage, effect, doubted, failure };
}

export const PRIOR_CALL_ROW: RowOf<PriorCall, ReturnType<typeof packPriorCall>> = {
  pack: packPriorCall,
  unpack: (row) => ({
    decisionId: row[0],
    callId: row[1],
    tool: row[2],
    n: row[3],
    atMs: row[4],
    turn: row[5],
    turnIndex: row[6],
    step: row[7],
    status: row[8],
    windowUntilMs: row[9],
    execution: row[10] === null ? null : EXECUTION_ROW.unpack(row[10]),
    keyId: row[19],
    repeats: row[11],
    output: row[12],
    outputDigest: row[13],
    outputBytes: row[14],
    whole: row[15],
    lastDigest: row[16],
    sameOutputs: row[17],
    trouble: unpackTrouble(row[18]),
    wrote: row[20],
  }),
};

const packOpen = (open: OpenCall) =>
  [
    open.decisionId,
    open.callId,
    open.tool,
    open.agentId,
    open.actionKey,
    open.status,
    open.isRead,
    open.n,
    open.atMs,
    open.turnIndex,
    open.call,
    open.deadlineMs,
    open.started,
    open.held,
    open.approvedBy,
    open.asked === null ? null : askedData(open.asked),
    open.said,
    open.unknownN,
    open.shown,
  ] as const;

const askedData = ({ approvalId, turn, step, argumentsDigest }: AskedCall): AskedCall => {
  return { approvalId, turn, step, argumentsDigest };
};

export const OPEN_ROW: RowOf<OpenCall, ReturnType<typeof packOpen>> = {
  pack: packOpen,
  unpack: (row) => ({
    decisionId: row[0],
    callId: row[1],
    tool: row[2],
    agentId: row[3],
    actionKey: row[4],
    status: row[5],
    isRead: row[6],
    n: row[7],
    atMs: row[8],
    turnIndex: row[9],
    call: row[10],
    deadlineMs: row[11],
    started: row[12],
    held: row[13],
    approvedBy: row[14],
    asked: row[15],
    said: row[16],
    unknownN: row[17],
    shown: row[18],
  }),
};

const packRecentCall = (entry: RecentCall) =>
  [
    entry.n,
    entry.decisionId,
    entry.loopKey,
    entry.tool,
    entry.atMs,
    entry.turnIndex,
    entry.isRead,
    entry.status,
    entry.transient,
    entry.digest,
    entry.maskedDigest,
    entry.agentId,
    entry.step,
    entry.isNew,
    entry.form,
  ] as const;

export const RECENT_CALL_ROW: RowOf<RecentCall, ReturnType<typeof packRecentCall>> = {
  pack: packRecentCall,
  unpack: (row) => ({
    n: row[0],
    decisionId: row[1],
    loopKey: row[2],
    tool: row[3],
    atMs: row[4],
    turnIndex: row[5],
    isRead: row[6],
    status: row[7],
    transient: row[8],
    digest: row[9],
    maskedDigest: row[10],
    agentId: row[11],
    step: row[12],
    isNew: row[13],
    form: row[14],
  }),
};

export const ACTION_ROW: RowOf<
  readonly RecentCall[],
  readonly ReturnType<typeof packRecentCall>[]
> = {
  pack: (calls) => calls.map(packRecentCall),
  unpack: (rows) => rows.map(RECENT_CALL_ROW.unpack),
};

const packHolder = (holder: EffectHolder) =>
  [
    holder.decisionId,
    holder.callId,
    holder.tool,
    holder.kind,
    holder.actionKey,
    holder.n,
    holder.atMs,
    holder.status,
    holder.ancestors,
    holder.onFailure,
    holder.claimant,
  ] as const;

export const HOLDER_ROW: RowOf<EffectHolder, ReturnType<typeof packHolder>> = {
  pack: packHolder,
  unpack: (row) => ({
    decisionId: row[0],
    callId: row[1],
    tool: row[2],
    kind: row[3],
    actionKey: row[4],
    n: row[5],
    atMs: row[6],
    status: row[7],
    ancestors: row[8],
    onFailure: row[9],
    claimant: row[10],
  }),
};

export const STRIKE_ROW: RowOf<Strike, readonly [string, number, string | null]> = {
  pack: ({ key, count, step }) => [key, count, step],
  unpack: ([key, count, step]) => ({ key, count, step }),
};

const packSketched = (one: Sketched) =>
  [
    one.decisionId,
    one.callId,
    one.tool,
    one.actionKey,
    one.n,
    one.atMs,
    one.status,
    one.values,
  ] as const;

export const SKETCHED_ROW: RowOf<Sketched, ReturnType<typeof packSketched>> = {
  pack: packSketched,
  unpack: ([decisionId, callId, tool, actionKey, n, atMs, status, values]) => ({
    decisionId,
    callId,
    tool,
    actionKey,
    n,
    atMs,
    status,
    values,
  }),
};
