/** Retained decisions as rows, and their terms as a list that the rows refer to. */
import type { CallHeld, CallRefused } from "../events.ts";
import {
  areSame,
  type CallTerms,
  type RetainedAllowed,
  type RetainedDecision,
} from "./retained-decision.ts";
import { EXECUTION_ROW, type RowOf } from "./snapshot-rows.ts";

const packTerms = (terms: CallTerms) =>
  [
    terms.revision,
    terms.tier,
    terms.tierRule,
    terms.isRead,
    terms.keyId,
    terms.idempotencyArgument,
    terms.proposalsAfterMs,
    terms.notAfterMs,
    terms.timeLimitMs,
    terms.windowMs,
    terms.factsDropAfterMs,
    terms.recentCallsMax,
    terms.rates,
  ] as const;

export const TERMS_ROW: RowOf<CallTerms, ReturnType<typeof packTerms>> = {
  pack: packTerms,
  unpack: (row) => ({
    revision: row[0],
    tier: row[1],
    tierRule: row[2],
    isRead: row[3],
    keyId: row[4],
    idempotencyArgument: row[5],
    proposalsAfterMs: row[6],
    notAfterMs: row[7],
    timeLimitMs: row[8],
    windowMs: row[9],
    factsDropAfterMs: row[10],
    recentCallsMax: row[11],
    rates: row[12],
  }),
};

const packAllowed = (decision: RetainedAllowed, termsAt: number) =>
  [
    decision.decisionId,
    decision.agentId,
    decision.actionKey,
    decision.atMs,
    decision.dropAfterMs,
    decision.fresh,
    decision.execution === null ? null : EXECUTION_ROW.pack(decision.execution),
    decision.priorKey,
    decision.resources,
    termsAt,
    decision.rare,
  ] as const;

type AllowedRow = ReturnType<typeof packAllowed>;

/** Refusals and holds are stored whole: the snapshot does not need to know their members. */
export type RetainedRow = AllowedRow | CallHeld | CallRefused;

/** Packs decisions; equal terms come into the list once. */
export class RetainedPacker {
  readonly terms: CallTerms[];

  /** @param terms those that come first in the list */
  constructor(terms: readonly CallTerms[]) {
    this.terms = [...terms];
  }

  readonly pack = (decision: RetainedDecision): RetainedRow =>
    decision.type === "allowed" ? packAllowed(decision, this.#indexOf(decision.terms)) : decision;

  #indexOf(terms: CallTerms): number {
    const at = this.terms.findIndex((one) => one === terms || areSame(one, terms));
    return at < 0 ? this.terms.push(terms) - 1 : at;
  }
}

/** Reads rows of `RetainedPacker`, with its list of terms. */
export function unpackRetained(row: RetainedRow, terms: readonly CallTerms[]): RetainedDecision {
  if (!isAllowed(row)) return row;
  return {
    type: "allowed",
    decisionId: row[0],
    agentId: row[1],
    actionKey: row[2],
    atMs: row[3],
    dropAfterMs: row[4],
    fresh: row[5],
    execution: row[6] === null ? null : EXECUTION_ROW.unpack(row[6]),
    priorKey: row[7],
    resources: row[8],
    terms: terms[row[9]] as CallTerms,
    rare: row[10],
  };
}

function isAllowed(row: RetainedRow): row is AllowedRow {
  return Array.isArray(row);
}
