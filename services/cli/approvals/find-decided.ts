/** Looks up in the journal how holds ended. */
import type { DecisionEvent, GateEvent } from "../../core/events.ts";
import { journalOf } from "../cluster/journal-records.ts";
import type { Source } from "../cluster/open-source.ts";
import { shownSpeaker } from "./shown-speaker.ts";

/** The decisions that ended the holds whose ids begin with `id`, the earliest first. */
export async function findDecided(id: string, source: Source): Promise<readonly DecisionEvent[]> {
  const decisions: DecisionEvent[] = [];
  for await (const { record } of journalOf(source)) {
    decisions.push(...record.events.filter((event) => isEnd(event, id)));
  }
  return decisions;
}

function isEnd(event: GateEvent, id: string): event is DecisionEvent {
  const isDecision = event.type === "allowed" || event.type === "refused" || event.type === "held";
  return isDecision && event.approval.approvalId?.startsWith(id) === true;
}

/** How, when and by whom the hold was decided, as the end of a sentence. */
export function decidedSentence(event: DecisionEvent): string {
  const by = event.approval.approvedBy.map(shownSpeaker).join(" and ");
  const at = `at ${new Date(event.times.atMs).toISOString()}`;
  const said = event.type === "refused" && event.refusal.reason === "approval_denied";
  const who = by === "" ? "" : `, ${said ? "denied or cancelled" : "approved"} by ${by}`;
  switch (event.type) {
    case "allowed":
      return `allowed ${at}${who}`;
    case "refused":
      return `refused (${event.refusal.reason}) ${at}${who}`;
    case "held":
      return `held anew ${at} under ${event.holdId}, as the rule had changed${who}`;
  }
}
