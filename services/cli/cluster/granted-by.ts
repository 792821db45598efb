/** Which grant let an allowed call run: one of the policy, or a manual one. */
import type { CallAllowed, VerdictRuled } from "../../core/events.ts";
import { rulingKey } from "../../core/state/manual-grants.ts";
import { printable } from "../output/printable.ts";
import { journalFrom } from "./journal-records.ts";
import type { Source } from "./open-source.ts";

const TEXT_CHARACTERS = 500;

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

function isGrantFor(call: CallAllowed, key: string, ruling: VerdictRuled): boolean {
  const { kind, tenantId, conversationId } = ruling;
  if (kind !== "grant" || tenantId !== call.tenantId) return false;
  return conversationId === call.conversationId && key === rulingKey(ruling);
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
