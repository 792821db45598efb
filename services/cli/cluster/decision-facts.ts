/**
 * What the journal says about a decision besides the decision itself: its verdicts, the grant that
 * it used, and the result of its call.
 */
import {
  type CallResult,
  isCallResult,
  isGrantFor,
  type SaidVerdict,
} from "../../client/journal/decision-facts.ts";
import type { CallAllowed, DecisionEvent, VerdictRuled } from "../../core/events.ts";
import { printable } from "../output/text.ts";
import { journalFrom } from "./journal-records.ts";
import type { Source } from "./open-source.ts";

const TEXT_CHARACTERS = 500;

const TITLES: { readonly [kind: string]: string } & { readonly approve: string } = {
  approve: "approved by",
  deny: "denied by",
  cancel: "cancelled by",
};

/** For people: a row for each person who approved, denied or cancelled. */
export function verdictRows(
  event: DecisionEvent,
  verdicts: readonly SaidVerdict[],
): readonly (readonly [string, string])[] {
  return event.approval.approvedBy.map((name) => {
    const said = verdicts.findLast(({ by }) => by === name);
    const title = TITLES[said?.kind ?? ""] ?? TITLES.approve;
    if (said === undefined) return [title, printable(name, TEXT_CHARACTERS)];
    const why = said.reason === null ? "" : `: ${printable(said.reason, TEXT_CHARACTERS)}`;
    const at = new Date(said.atMs).toISOString();
    return [title, `${printable(name, TEXT_CHARACTERS)} at ${at}${why}`];
  });
}

/** Reads the journal up to the call; null if the call used no grant. */
export async function grantedBy(
  source: Source,
  event: CallAllowed,
  position: { readonly partition: number; readonly seq: number },
): Promise<string | null> {
  const { grant, more } = event.facts;
  if (grant !== null) return `the policy, tier \`${grant.tier}\`, until ${time(grant.expiresAtMs)}`;
  const key = more?.manualGrant ?? null;
  if (key === null) return null;
  const ruling = await lastGrant(source, event, key, position);
  if (ruling === null) return "a grant that the journal no longer has";
  const what = describeGrant(ruling);
  const reason = ruling.reason === null ? "" : `: ${printable(ruling.reason, TEXT_CHARACTERS)}`;
  return `${printable(ruling.by, TEXT_CHARACTERS)}, by a grant ${what} at ${time(ruling.atMs)}${reason}`;
}

function describeGrant({ tier, tool, scope }: VerdictRuled): string {
  if (tool === null) return `of tier \`${printable(tier ?? "", TEXT_CHARACTERS)}\``;
  const name = `of tool \`${printable(tool, TEXT_CHARACTERS)}\``;
  return scope === null ? name : `${name}, rule \`${printable(scope.of, TEXT_CHARACTERS)}\``;
}

/** A later grant replaces an earlier one. */
async function lastGrant(
  source: Source,
  call: CallAllowed,
  key: string,
  position: { readonly partition: number; readonly seq: number },
): Promise<VerdictRuled | null> {
  let last: VerdictRuled | null = null;
  for await (const { record } of journalFrom(source, position.partition)) {
    const { seq, events } = record;
    if (seq >= position.seq) break;
    for (const event of events) {
      if (event.type === "ruled" && isGrantFor(call, key, event)) last = event;
    }
  }
  return last;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

/** The latest event decides, because a result may arrive late. Null: none yet. */
export async function resultOf(
  source: Source,
  { decisionId }: CallAllowed,
  { partition, offset }: { readonly partition: number; readonly offset: number },
): Promise<CallResult | null> {
  let last: CallResult | null = null;
  for await (const { record } of journalFrom(source, partition, offset)) {
    for (const event of record.events) {
      if (isCallResult(event) && event.decisionId === decisionId) last = event;
    }
  }
  return last;
}

/** For people. */
export function resultText(result: CallResult | null): string {
  if (result === null) return "none in the journal yet";
  const at = `at ${new Date(result.atMs).toISOString()}`;
  switch (result.type) {
    case "outcome_unknown":
      return `unknown ${at}: no report came in time`;
    case "reconciled": {
      const { outcome, by, reason } = result;
      return shown(`${outcome} ${at}, reported by ${by}${reason === null ? "" : `: ${reason}`}`);
    }
    case "result_recorded": {
      const { status, effect, durationMs, error } = result;
      const statusText = effect === "possible" ? `${status} and may have taken effect` : status;
      const took = durationMs === null ? "" : `, after ${durationMs} ms`;
      const code = error?.code ? `${error.code}: ` : "";
      return shown(
        `${statusText} ${at}${took}${error === null ? "" : `: ${code}${error.message}`}`,
      );
    }
  }
}

function shown(text: string): string {
  return printable(text, TEXT_CHARACTERS);
}

/** For programs. */
export function resultJson(result: CallResult | null): object | null {
  if (result === null) return null;
  const { atMs } = result;
  switch (result.type) {
    case "outcome_unknown":
      return { status: "unknown", atMs };
    case "reconciled":
      return { status: result.outcome, atMs, by: result.by, reason: result.reason };
    case "result_recorded": {
      const { status, effect, durationMs, error } = result;
      return { status, effect, atMs, durationMs, error };
    }
  }
}
