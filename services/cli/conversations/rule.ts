/**
 * Verdicts that answer no held call: grants, ending and reopening a conversation, reconciling an
 * unknown outcome.
 */
import { type RulingIgnored, whyNotRuled } from "../../client/inputs/ruling.ts";
import type { GateEvent } from "../../core/events.ts";
import type { VerdictInput } from "../../core/inputs.ts";
import { EXIT_OK, EXIT_USAGE, type ExitCode, usageError } from "../../process/exit-error.ts";
import { speakerOf } from "../approvals/give-verdict.ts";
import { IGNORED_SENTENCES, notTaken, sendVerdict } from "../approvals/send-verdict.ts";
import { findDecision } from "../cluster/explain-decision.ts";
import { openSource, type Source, type SourceOptions } from "../cluster/open-source.ts";
import type { Terminal } from "../output/terminal.ts";
import { parseConversation } from "./conversation-name.ts";

type Common = SourceOptions & {
  readonly by: string | undefined;
  readonly reason: string | undefined;
  readonly json: boolean;
};

type RulingCommand = Common & {
  readonly kind: "grant" | "revoke" | "resume" | "end";
  /** `conversation`, or `tenant/conversation`. */
  readonly conversation: string;
  readonly tier: string | undefined;
  readonly tool: string | undefined;
  readonly calls: number | "any" | undefined;
  readonly forMs: number | undefined;
};

type ReconcileCommand = Common & {
  /** The decision that allowed the call, or the beginning of its id. */
  readonly decision: string;
  readonly outcome: NonNullable<VerdictInput["outcome"]>;
};

export async function giveRuling(command: RulingCommand, terminal: Terminal): Promise<ExitCode> {
  const { kind, tier, tool, forMs, calls } = command;
  const isGrant = kind === "grant" || kind === "revoke";
  if (isGrant && (tier === undefined) === (tool === undefined)) {
    throw usageError(`${kind} applies to one tier or one tool: give --tier or --tool`);
  }
  const conversation = parseConversation(command.conversation);
  const source = await openSource(command, terminal);
  try {
    const events = await sendVerdict(
      {
        ...conversation,
        ...{ kind, tier: tier ?? null, tool: tool ?? null, calls: callsOf(kind, calls) },
        ...saidOf(command),
        untilMs: forMs === undefined ? null : Date.now() + forMs,
      },
      source,
    );
    return await tell(command, DONE[kind], command.conversation, events, terminal);
  } finally {
    await source.close();
  }
}

/** One call by default: a grant never exceeds what the person asked for. */
function callsOf(kind: RulingCommand["kind"], calls: RulingCommand["calls"]): number | null {
  if (kind !== "grant" || calls === "any") return null;
  return calls ?? 1;
}

const DONE = {
  grant: "granted",
  revoke: "revoked",
  resume: "reopened",
  end: "ended",
  reconcile: "reconciled",
} as const;

export async function reconcileCall(
  command: ReconcileCommand,
  terminal: Terminal,
): Promise<ExitCode> {
  const source = await openSource(command, terminal);
  try {
    const { tenantId, conversationId, decisionId } = await decisionOf(command.decision, source);
    const { outcome } = command;
    const said = saidOf(command);
    const kind = "reconcile";
    const verdict = { kind, tenantId, conversationId, decisionId, outcome, ...said } as const;
    const events = await sendVerdict(verdict, source);
    return await tell(command, DONE.reconcile, decisionId, events, terminal);
  } finally {
    await source.close();
  }
}

async function decisionOf(id: string, source: Source) {
  const decisions = await findDecision(source, id);
  const ids = new Set(decisions.map(({ event }) => event.decisionId));
  const event = decisions.at(-1)?.event;
  if (event === undefined) throw usageError(`${id}: no decision has this id; see callgate tail`);
  if (ids.size > 1) throw usageError(`${id}: is the beginning of ${ids.size} ids; give more of it`);
  return event;
}

function saidOf({ by, reason }: Common): Pick<VerdictInput, "by" | "reason"> {
  return { by: speakerOf({ by }), reason: reason ?? null };
}

async function tell(
  { json, ...source }: Common,
  done: string,
  what: string,
  events: readonly GateEvent[] | null,
  terminal: Terminal,
): Promise<ExitCode> {
  // Null: no gate has processed it yet.
  const ignored = events === null ? undefined : whyNotRuled(events);
  const taken = events !== null && ignored === undefined;
  const text = json
    ? JSON.stringify({ taken, ...(ignored === undefined ? {} : { ignored }) })
    : `${what}: ${sentence(done, events, ignored, source)}`;
  await terminal.out.write(`${text}\n`);
  return ignored === undefined ? EXIT_OK : EXIT_USAGE;
}

function sentence(
  done: string,
  events: readonly GateEvent[] | null,
  ignored: RulingIgnored | undefined,
  source: SourceOptions,
): string {
  if (events === null) return `it is recorded; ${notTaken(source)}`;
  return ignored === undefined ? done : `changed nothing: ${RULING_SENTENCES[ignored]}`;
}

const RULING_SENTENCES: Readonly<Record<RulingIgnored, string>> = {
  ...IGNORED_SENTENCES,
  approvals_required:
    "the tier requires several approvals, so its calls are approved one by one; see callgate approvals list",
  dead_letter: "no gate can read it; see callgate dlq list",
};
