/**
 * Finds a call that is almost equal to one of this turn, by the fields that the tool's `similarity`
 * block declares. The check `duplicate` looks for the very same call.
 */

import { ledgerGet } from "../../collections/ledger.ts";
import { quoteId } from "../hidden-text.ts";
import type { Similarity } from "../policy/compiled.ts";
import { similarity } from "../similarity/sketch.ts";
import type { Sketched } from "../state/state.ts";
import { anyWriteSince } from "../state/writes.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import type { ExplainedCall } from "./explain-row.ts";

export const nearDuplicateCheck = defineCheck("near_duplicate", {
  find: findNearDuplicate,
  row: { rule: ({ rule }) => `${rule}.similarity`, value: showCompared },
});

function findNearDuplicate(call: CallContext): readonly Finding[] {
  const { more } = call.facts;
  if (more === null || more.sketches.length === 0 || call.isConfirmed) return NOTHING;
  if (call.tool.modes.near_duplicate === "off") return NOTHING;
  for (const { key, values } of more.sketches) {
    const declared = call.tool.similarity[Number.parseInt(key, 10)];
    const earlier = ledgerGet(call.state.sketches, key, call.nowMs);
    if (declared === undefined || earlier === undefined || !mayRepeat(call, earlier)) continue;
    const alike = similarity(values, earlier.values);
    if (alike >= declared.threshold) return [near(declared, earlier, key, alike)];
  }
  return NOTHING;
}

/**
 * Whether the earlier call is a different one, did not fail, and nothing else was written since.
 */
function mayRepeat(call: CallContext, { status, actionKey, n }: Sketched): boolean {
  if (status === "failed" || status === "not_executed") return false;
  if (actionKey === call.actionKey) return false;
  return !anyWriteSince(call.state, { actionKey, isRead: false, resources: null }, n);
}

function near({ field, rule }: Similarity, earlier: Sketched, key: string, alike: number): Finding {
  const { callId, decisionId, tool, atMs, status } = earlier;
  const percent = Math.floor(alike * 100);
  return finding({
    reason: "near_duplicate",
    rule,
    disposition: "change_approach",
    detail: `\`${field}\` is ${percent} % like that of call ${quoteId(callId)}.`,
    earlier: { callId, decisionId, tool, atMs, status },
    strikeKey: `near:${key}`,
    resolution: "confirmation",
  });
}

function showCompared({ tool }: ExplainedCall): string {
  if (tool.similarity.length === 0) return "no field declared";
  const fields = tool.similarity.map(({ field, threshold }) => `\`${field}\` from ${threshold} on`);
  return `compared: ${fields.join(", ")}`;
}
