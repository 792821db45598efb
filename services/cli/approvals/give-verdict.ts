/**
 * `callgate approvals approve|deny|cancel`: appends the verdict to the log. The gate that runs there
 * takes it; where none runs, the next one does.
 */
import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import type { GateEvent } from "../../core/events.ts";
import type { VerdictSubject } from "../../core/inputs.ts";
import { speakerProblem } from "../../core/speaker.ts";
import { openSource, type Source, type SourceOptions } from "../cluster/open-source.ts";
import { usageError } from "../output/cli-error.ts";
import { EXIT_OK, EXIT_USAGE, type ExitCode } from "../output/exit-codes.ts";
import { revealed } from "../output/revealed.ts";
import type { Terminal } from "../output/terminal.ts";
import { findHolds } from "./find-holds.ts";
import type { Hold, HoldVerdict } from "./hold.ts";
import { IGNORED_SENTENCES, sendVerdict, verdictFrom } from "./send-verdict.ts";
import { shownSpeaker } from "./shown-speaker.ts";
import { isDecided, whyIgnored } from "./waiting-verdicts.ts";

const TEXT_CHARACTERS = 80;

/** As much of an id as tells it from others; an empty one, of a script, would be that of any call. */
const ID_CHARACTERS_MIN = 6;

export interface VerdictCommand extends SourceOptions {
  readonly kind: HoldVerdict;
  /** The approval id, or the beginning of one. */
  readonly id: string;
  readonly by: string | undefined;
  readonly reason: string | undefined;
  /** approve: so many further calls of the tool in the conversation; undefined: of this call alone. */
  readonly calls: number | "any" | undefined;
  /** For so long. */
  readonly forMs: number | undefined;
  /** What was looked at: of another call, action or rule nothing is sent. Digests may be cut. */
  readonly about: Readonly<Partial<VerdictSubject>>;
  readonly json: boolean;
}

export async function giveVerdict(command: VerdictCommand, terminal: Terminal): Promise<ExitCode> {
  const source = await openSource(command);
  try {
    const hold = await holdOf(command.id, source);
    const { holdId: approvalId, tenantId, conversationId, tool } = hold.held;
    const about = subjectOf(command, hold);
    assertUndecided(hold, Date.now());
    const reason = await reasonOf(command, hold, terminal);
    const { kind, calls, forMs } = command;
    const by = speakerOf(command);
    const isMore = calls !== undefined || forMs !== undefined;
    const more = isMore ? { tool, calls: calls === "any" ? null : (calls ?? 1) } : {};
    const untilMs = forMs === undefined ? null : Date.now() + forMs;
    const given = {
      kind,
      tenantId,
      conversationId,
      by,
      approvalId,
      reason,
      untilMs,
      about,
      ...more,
    };
    const why = whyIgnored(hold, verdictFrom(given));
    if (why !== null) return await tell(command, hold, null, { ignored: why }, terminal);
    const events = await sendVerdict(given, source);
    return await tell(command, hold, events, outcomeOf(events?.[0]), terminal);
  } finally {
    await source.close();
  }
}

/** @throws CliError where the name is empty, or has characters that nobody sees: no gate would take it. */
export function speakerOf({ by }: { readonly by: string | undefined }): string {
  if (by !== undefined && by.trim() === "") throw usageError("--by: give the name of who says so");
  const name = by ?? userInfo().username;
  const problem = speakerProblem(name, "--by");
  if (problem === undefined) return name;
  throw usageError(`${revealed(name, TEXT_CHARACTERS)}: ${problem}`);
}

/** @throws CliError where no hold, or several, begin so. */
export async function holdOf(id: string, source: Source): Promise<Hold> {
  if (id.length < ID_CHARACTERS_MIN) {
    throw usageError(`\`${id}\`: give at least ${ID_CHARACTERS_MIN} characters of the approval id`);
  }
  const holds = await findHolds(source);
  const found = holds.filter(({ held }) => held.holdId.startsWith(id));
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  const what = found.length === 0 ? "no call waits under this id" : `fits ${found.length} calls`;
  throw usageError(`${id}: ${what}; see: callgate approvals list`);
}

/** @throws CliError that says what differs from what was looked at. */
function subjectOf({ about }: VerdictCommand, { held }: Hold): VerdictSubject {
  const { callId, actionKey, ruleDigest } = held;
  const differ = [
    differs("call", about.callId, callId, callId),
    differs("action", about.actionKey, actionKey, actionKey.slice(0, about.actionKey?.length)),
    differs("rule", about.ruleDigest, ruleDigest, ruleDigest.slice(0, about.ruleDigest?.length)),
  ].filter((one) => one !== null);
  if (differ.length === 0) return { callId, actionKey, ruleDigest };
  const see = `see: callgate approvals show ${held.holdId}`;
  throw usageError(`${held.holdId}: nothing is said, for ${differ.join("; ")}; ${see}`);
}

/**
 * What came after a verdict that decides, or after the hold's end, would be recorded and change nothing.
 *
 * @throws CliError that says what decides instead.
 */
function assertUndecided(hold: Hold, nowMs: number): void {
  const { holdId, expiresAtMs } = hold.held;
  if (isDecided(hold)) {
    const said = hold.waiting.map(({ kind, by }) => `${kind} by ${shownSpeaker(by)}`);
    const is = said.length === 1 ? "is recorded, decides and" : "are recorded, decide and";
    const what = `${said.join(" and ")} ${is} cannot be taken back; the next gate takes`;
    throw usageError(
      `${holdId}: nothing is said, for ${what} ${said.length === 1 ? "it" : "them"}`,
    );
  }
  if (nowMs < expiresAtMs) return;
  const ended = `it waited for an answer until ${new Date(expiresAtMs).toISOString()}`;
  throw usageError(
    `${holdId}: nothing is said, for ${ended}; the next gate refuses the call, which can be proposed again`,
  );
}

function differs(what: string, seen: string | null | undefined, is: string, begins: string) {
  if (seen === undefined || seen === null || seen === begins) return null;
  return `the ${what} that waits is ${revealed(is, TEXT_CHARACTERS)}, not ${revealed(seen, TEXT_CHARACTERS)}`;
}

/** Where the policy wants one and a person is there, it is asked for. */
async function reasonOf(
  { kind, reason }: VerdictCommand,
  { held }: Hold,
  terminal: Terminal,
): Promise<string | null> {
  if (reason !== undefined && reason.trim() !== "") return reason;
  if (kind !== "approve" || !held.requireReason) return null;
  const asked = terminal.isInteractive ? await askReason(held.tool, terminal) : "";
  if (asked !== "") return asked;
  throw usageError(`${held.holdId}: the policy wants a reason; give it with --reason`);
}

async function askReason(tool: string, { input, err }: Terminal): Promise<string> {
  const lines = createInterface({ input, terminal: false });
  await err.write(`why may ${tool} run? `);
  try {
    const { value } = await lines[Symbol.asyncIterator]().next();
    return typeof value === "string" ? value.trim() : "";
  } finally {
    lines.close();
  }
}

async function tell(
  { json, kind }: VerdictCommand,
  hold: Hold,
  events: readonly GateEvent[] | null,
  outcome: VerdictOutcome,
  terminal: Terminal,
): Promise<ExitCode> {
  const further = outcomeOf(events?.[1]).ignored;
  const { holdId: approvalId, tool } = hold.held;
  const told = json
    ? JSON.stringify({
        approvalId,
        verdict: kind,
        taken: events !== null && outcome.ignored === undefined,
        ...outcome,
        furtherIgnored: further,
      })
    : `${approvalId} ${tool}: ${sentence(kind, hold, events, outcome)}${furtherSentence(further)}`;
  await terminal.out.write(`${told}\n`);
  return outcome.ignored === undefined ? EXIT_OK : EXIT_USAGE;
}

function furtherSentence(ignored: VerdictOutcome["ignored"]): string {
  return ignored === undefined ? "" : `; no further calls: ${IGNORED_SENTENCES[ignored]}`;
}

interface VerdictOutcome {
  readonly outcome?: "allowed" | "refused" | "held" | "counted";
  readonly reason?: string;
  /** Why the verdict changed nothing. */
  readonly ignored?: keyof typeof IGNORED_SENTENCES;
}

function outcomeOf(event: GateEvent | undefined): VerdictOutcome {
  switch (event?.type) {
    case "allowed":
    case "held":
      return { outcome: event.type };
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

function sentence(
  kind: HoldVerdict,
  { held, approvedBy }: Hold,
  events: readonly GateEvent[] | null,
  { outcome, reason, ignored }: VerdictOutcome,
): string {
  if (ignored !== undefined) return `changed nothing: ${IGNORED_SENTENCES[ignored]}`;
  if (events === null) return `${kind} is recorded; no gate runs there, the next one takes it`;
  if (outcome === "held") return "held anew, under another id: the rule has changed";
  if (outcome === "counted") {
    return `approved by ${approvedBy.length + 1} of ${held.approvals} who must; it waits for the others`;
  }
  return reason === undefined ? `${outcome}` : `${outcome} (${reason})`;
}
