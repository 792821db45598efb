/** Tells the person who gave a verdict what the gate made of it. */
import type { GateEvent } from "../../core/events.ts";
import { EXIT_OK, EXIT_USAGE, type ExitCode } from "../../process/exit-error.ts";
import type { SourceOptions } from "../cluster/open-source.ts";
import { conversationName } from "../conversations/conversation-name.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted } from "../output/text.ts";
import type { Hold, HoldVerdict } from "./hold.ts";
import { IGNORED_SENTENCES, notTaken } from "./send-verdict.ts";
import { shownScope } from "./shown-names.ts";

export interface VerdictOutcome {
  readonly outcome?: "allowed" | "refused" | "held" | "counted";
  readonly reason?: string;
  /** If still held: the id under which the call waits now. */
  readonly heldAs?: string;
  /** Why the verdict changed nothing. */
  readonly ignored?: keyof typeof IGNORED_SENTENCES;
}

type VerdictReport = {
  readonly kind: HoldVerdict;
  readonly json: boolean;
  readonly source: SourceOptions;
  readonly hold: Hold;
  /** Null: no gate has processed it. */
  readonly events: readonly GateEvent[] | null;
  readonly outcome: VerdictOutcome;
};

export async function tellVerdict(report: VerdictReport, terminal: Terminal): Promise<ExitCode> {
  const { kind, json, hold, events, outcome } = report;
  const grantEvent = events?.[1];
  const further = outcomeOf(grantEvent).ignored;
  const {
    holdId: approvalId,
    call: { tool },
  } = hold.held;
  const text = json
    ? JSON.stringify({
        approvalId,
        verdict: kind,
        taken: events !== null && outcome.ignored === undefined,
        ...outcome,
        furtherIgnored: further,
        further:
          grantEvent?.type === "ruled"
            ? { calls: grantEvent.calls ?? "any", ...grantEvent.scope }
            : undefined,
      })
    : `${approvalId} ${tool}: ${sentence(report)}${furtherSentence(grantEvent)}`;
  await terminal.out.write(`${text}\n`);
  return outcome.ignored === undefined ? EXIT_OK : EXIT_USAGE;
}

export function outcomeOf(event: GateEvent | undefined): VerdictOutcome {
  switch (event?.type) {
    case "allowed":
      return { outcome: "allowed" };
    case "held":
      return { outcome: "held", heldAs: event.holdId };
    case "refused":
      return { outcome: "refused", reason: event.refusal.reason };
    case "ruled":
      return { outcome: "counted" };
    case "ignored":
      return { ignored: event.why };
    default:
      return {};
  }
}

function furtherSentence(grantEvent: GateEvent | undefined): string {
  if (grantEvent?.type === "ignored")
    return `; no further calls: ${IGNORED_SENTENCES[grantEvent.why]}`;
  if (grantEvent?.type !== "ruled" || grantEvent.scope === null) return "";
  const { calls, scope } = grantEvent;
  const count = calls === null ? "any number of further calls" : counted(calls, "further call");
  return `; ${count} ${shownScope(scope)}`;
}

function sentence({
  kind,
  source,
  hold,
  events,
  outcome: { outcome, reason, ...more },
}: VerdictReport): string {
  const { held, approvedBy } = hold;
  if (more.ignored !== undefined) return `changed nothing: ${IGNORED_SENTENCES[more.ignored]}`;
  if (events === null) return `${kind} is recorded; ${notTaken(source)}`;
  if (outcome === "held") {
    return `held anew under ${more.heldAs}: the rule has changed, and earlier verdicts are void`;
  }
  if (outcome === "counted") {
    return `approved by ${approvedBy.length + 1} of ${held.approvals} who must; it waits for the others`;
  }
  if (reason === undefined) return `${outcome}`;
  if (kind !== "approve") return `${outcome} (${reason})`;
  const why = `${outcome} (${reason}) despite the approval: it was checked again and does not run`;
  return reason === "conversation_ended" ? `${why}; ${reopening(hold)}` : why;
}

/** How a call of an ended conversation can still run. */
export function reopening({ held }: Hold): string {
  const name = JSON.stringify(conversationName(held));
  return `callgate conversations reopen ${name} lets its calls be decided again`;
}
