/**
 * Parts of core types out of read values. The library gives instances of its own classes; these give
 * plain objects of exactly the core's fields, and check what is on a closed list.
 */
import type {
  CallFacts,
  CallMore,
  Conflict,
  Evicted,
  ExclusiveEffect,
  Notice,
  PreviousCall,
  PreviousResult,
  Refusal,
  Resolution,
  ResultEffects,
} from "../core/events.ts";
import type { CallError, Money } from "../core/inputs.ts";
import type { JournalAnchor } from "../runtime/journal.ts";
import type { PerInput } from "../runtime/topics.ts";
import {
  CALL_STATUSES,
  DISPOSITIONS,
  member,
  ON_FAILURE,
  REASONS,
  RESOLUTIONS,
} from "./closed-lists.ts";
import type { RawCallFacts } from "./raw-journal.ts";
import { UndecodableError } from "./reader.ts";

export function plainMoney(raw: Money | null): Money | null {
  return raw === null ? null : { microUnits: raw.microUnits, currency: raw.currency };
}

export function plainError(raw: CallError | null): CallError | null {
  if (raw === null) return null;
  return { code: raw.code, message: raw.message, retryable: raw.retryable };
}

export function plainNotices(raw: readonly Notice[]): readonly Notice[] {
  return raw.map(({ reason, message, rule }) => ({
    reason: member(REASONS, reason),
    message,
    rule,
  }));
}

export function plainEvicted(raw: Evicted | null): Evicted | null {
  if (raw === null) return null;
  const { reads, names, writes, resources } = raw;
  return { reads, names, writes, resources };
}

export function plainPerInput(raw: PerInput): PerInput {
  return { proposals: raw.proposals, results: raw.results, verdicts: raw.verdicts };
}

export function plainAnchor(raw: JournalAnchor | null): JournalAnchor | null {
  if (raw === null) return null;
  const { secrets, lostKeyIds, accepted } = raw;
  return {
    secrets: secrets.map(({ keyId, fingerprint, supersededAtMs }) => ({
      keyId,
      fingerprint,
      supersededAtMs,
    })),
    lostKeyIds,
    accepted:
      accepted === null
        ? null
        : {
            by: accepted.by,
            reason: accepted.reason,
            atMs: accepted.atMs,
            losses: accepted.losses,
          },
  };
}

export function plainEffects(raw: readonly ExclusiveEffect[]): readonly ExclusiveEffect[] {
  return raw.map(({ resource, kind, rule, wholes, onFailure }) => ({
    resource,
    kind,
    rule,
    wholes,
    onFailure: member(ON_FAILURE, onFailure),
  }));
}

export function plainResultEffects(raw: ResultEffects | null): ResultEffects | null {
  return raw === null ? null : { resources: raw.resources, exclusive: plainEffects(raw.exclusive) };
}

function plainMore(raw: CallMore | null): CallMore | null {
  if (raw === null) return null;
  return {
    cost: plainMoney(raw.cost),
    given: raw.given,
    pending: raw.pending.map(({ resource, kind, exclusive, rule, onFailure }) => ({
      resource,
      kind,
      exclusive,
      rule,
      onFailure: member(ON_FAILURE, onFailure),
    })),
    sketches: raw.sketches.map(({ key, values }) => ({ key, values })),
  };
}

export function plainCallFacts(raw: RawCallFacts, actionKey: string): CallFacts {
  return {
    twinKey: raw.twinKey ?? actionKey,
    resources: raw.resources,
    exclusive: plainEffects(raw.exclusive),
    windowUntilMs: raw.windowUntilMs,
    dropAtMs: raw.dropAtMs,
    ringSize: raw.ringSize,
    repeats: raw.repeats,
    rates: raw.rates.map(({ key, windowMs }) => ({ key, windowMs })),
    grant: raw.grant === null ? null : { tier: raw.grant.tier, expiresAtMs: raw.grant.expiresAtMs },
    more: plainMore(raw.more),
  };
}

/** A refusal all of whose fields are there. */
export function plainRefusal(raw: Refusal): Refusal {
  if (raw.schemaVersion !== 1) {
    throw new UndecodableError(`refusal of version ${raw.schemaVersion} is not known here`);
  }
  return {
    schemaVersion: 1,
    decisionId: raw.decisionId,
    callId: raw.callId,
    tool: raw.tool,
    arguments: raw.arguments,
    reason: member(REASONS, raw.reason),
    message: raw.message,
    duplicate: raw.duplicate,
    note: raw.note,
    rule: raw.rule,
    policy: raw.policy,
    level: raw.level,
    count: raw.count,
    retryable: raw.retryable,
    disposition: member(DISPOSITIONS, raw.disposition),
    previousCall: plainPreviousCall(raw.previousCall),
    previousResult: plainPreviousResult(raw.previousResult),
    conflict: plainConflict(raw.conflict),
    resolution: plainResolution(raw.resolution),
    suggestedNext: raw.suggestedNext,
    problems: raw.problems.map(({ path, message }) => ({ path, message })),
    known:
      raw.known === null
        ? null
        : raw.known.map(({ ref, tool, atMs, digest }) => ({ ref, tool, atMs, digest })),
    userMessage: raw.userMessage,
  };
}

function plainPreviousCall(raw: PreviousCall | null): PreviousCall | null {
  if (raw === null) return null;
  return {
    callId: raw.callId,
    decisionId: raw.decisionId,
    tool: raw.tool,
    atMs: raw.atMs,
    status: member(CALL_STATUSES, raw.status),
  };
}

/** Both `inline` and `ref` are fields of the record; one of them is null. */
type BothResults = {
  readonly inline: string | null;
  readonly ref: string | null;
  readonly digest: string | null;
  readonly bytes: number;
};

function plainPreviousResult(result: PreviousResult | null): PreviousResult | null {
  if (result === null) return null;
  const { inline, ref, digest, bytes } = result as unknown as BothResults;
  if (inline !== null && ref === null) return { inline, digest, bytes };
  if (ref !== null && inline === null) return { ref, digest, bytes };
  throw new UndecodableError("a previous result is neither inline nor by reference alone");
}

function plainConflict(raw: Conflict | null): Conflict | null {
  return raw === null ? null : { resource: raw.resource, path: raw.path };
}

function plainResolution(raw: Resolution): Resolution {
  const { type, retryAfterMs, approvalId } = raw;
  return { type: member(RESOLUTIONS, type), retryAfterMs, approvalId };
}
