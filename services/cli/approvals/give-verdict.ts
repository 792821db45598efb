/**
 * `callgate approvals approve|deny|cancel`: appends the verdict to the log. The running gate
 * processes it; if none runs, the next one does.
 */
import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import { verdictFrom } from "../../client/inputs/ruling.ts";
import { hasVisible } from "../../core/hidden-text.ts";
import type { VerdictSubject } from "../../core/inputs.ts";
import { speakerProblem } from "../../core/speaker.ts";
import type { ExitCode } from "../../process/exit-error.ts";
import { usageError } from "../../process/exit-error.ts";
import { openSource, type Source, type SourceOptions } from "../cluster/open-source.ts";
import type { Terminal } from "../output/terminal.ts";
import { revealed } from "../output/text.ts";
import { decidedSentence, findDecided, findHolds } from "./find-holds.ts";
import type { Hold, HoldVerdict } from "./hold.ts";
import { isDecided, whyIgnored } from "./hold.ts";
import { sendVerdict } from "./send-verdict.ts";
import { shownSpeaker } from "./shown-names.ts";
import { outcomeOf, reopening, tellVerdict } from "./tell-verdict.ts";

const TEXT_CHARACTERS = 80;

/**
 * Enough of an id to be unambiguous. An empty id, from a script's empty variable, would match every
 * call.
 */
const ID_CHARACTERS_MIN = 6;

export interface VerdictCommand extends SourceOptions {
  readonly kind: HoldVerdict;
  /** The approval id, or its beginning. */
  readonly id: string;
  readonly by: string | undefined;
  readonly reason: string | undefined;
  /**
   * With approve: how many further calls of the tool to grant in the conversation; undefined: none.
   */
  readonly calls: number | "any" | undefined;
  /** How long the grant lasts. */
  readonly forMs: number | undefined;
  /**
   * What the person has reviewed: if the call, action or rule is another one, no verdict is sent.
   * Digests may be shortened.
   */
  readonly about: Readonly<Partial<VerdictSubject>>;
  readonly json: boolean;
}

export async function giveVerdict(command: VerdictCommand, terminal: Terminal): Promise<ExitCode> {
  assertLongEnough(command.about);
  const source = await openSource(command, terminal);
  try {
    const hold = await holdOf(command.id, source);
    const {
      holdId: approvalId,
      tenantId,
      conversationId,
      call: { tool },
    } = hold.held;
    const about = subjectOf(command, hold);
    assertUndecided(hold, command.kind, Date.now());
    const reason = await reasonOf(command, hold, terminal);
    const { kind, calls, forMs, json } = command;
    const by = speakerOf(command);
    const isMore = calls !== undefined || forMs !== undefined;
    const more = isMore ? { tool, calls: calls === "any" ? null : (calls ?? 1) } : {};
    const untilMs = forMs === undefined ? null : Date.now() + forMs;
    const fields = {
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
    const why = whyIgnored(hold, verdictFrom(fields));
    if (why !== null) {
      const report = { kind, json, source: command, hold, events: null, outcome: { ignored: why } };
      return await tellVerdict(report, terminal);
    }
    const events = await sendVerdict(fields, source);
    const outcome = outcomeOf(events?.[0]);
    return await tellVerdict({ kind, json, source: command, hold, events, outcome }, terminal);
  } finally {
    await source.close();
  }
}

/** @throws ExitError if the name is empty or has invisible characters: no gate would accept it. */
export function speakerOf({ by }: { readonly by: string | undefined }): string {
  if (by !== undefined && by.trim() === "") throw usageError("--by: give the approver's name");
  const name = by ?? userInfo().username;
  const problem = speakerProblem(name, "--by");
  if (problem === undefined) return name;
  throw usageError(`${revealed(name, TEXT_CHARACTERS)}: ${problem}`);
}

/**
 * Rejects short values, because an empty variable of a script would match everything.
 *
 * @throws ExitError if a value that identifies the reviewed call is too short.
 */
function assertLongEnough({ callId, actionKey, ruleDigest }: VerdictCommand["about"]): void {
  if (callId === "") throw usageError("--call: give the id of the call that you reviewed");
  const digests = [
    ["--action", actionKey],
    ["--rule", ruleDigest],
  ] as const;
  for (const [option, digest] of digests) {
    if (typeof digest !== "string" || digest.length >= ID_CHARACTERS_MIN) continue;
    const what = `give at least ${ID_CHARACTERS_MIN} characters of the digest`;
    throw usageError(`${option}: \`${digest}\`: ${what}; see: callgate approvals show`);
  }
}

/**
 * @throws ExitError if no hold, or several, match the id; if the hold was decided, the error says
 *   how and by whom.
 */
export async function holdOf(id: string, source: Source): Promise<Hold> {
  if (id.length < ID_CHARACTERS_MIN) {
    throw usageError(`\`${id}\`: give at least ${ID_CHARACTERS_MIN} characters of the approval id`);
  }
  const holds = await findHolds(source);
  const matches = holds.filter(({ held }) => held.holdId.startsWith(id));
  const [only] = matches;
  if (matches.length === 1 && only !== undefined) return only;
  const decided = matches.length === 0 ? await findDecided(id, source) : [];
  const [end] = decided;
  if (
    end !== undefined &&
    new Set(decided.map(({ approval: { approvalId } }) => approvalId)).size === 1
  ) {
    throw usageError(`${id}: no call waits under this id: it was decided, ${decidedSentence(end)}`);
  }
  const what =
    matches.length === 0 ? "no call waits under this id" : `matches ${matches.length} calls`;
  throw usageError(`${id}: ${what}; see: callgate approvals list`);
}

/** @throws ExitError that says how the call differs from the reviewed one. */
function subjectOf({ about }: VerdictCommand, { held }: Hold): VerdictSubject {
  const {
    call: { callId },
    arguments: { actionKey },
    ruleDigest,
  } = held;
  const differ = [
    differs("call", about.callId, callId, callId),
    differs("action", about.actionKey, actionKey, actionKey.slice(0, about.actionKey?.length)),
    differs("rule", about.ruleDigest, ruleDigest, ruleDigest.slice(0, about.ruleDigest?.length)),
  ].filter((one) => one !== null);
  if (differ.length === 0) return { callId, actionKey, ruleDigest };
  const see = `see: callgate approvals show ${held.holdId}`;
  throw usageError(`${held.holdId}: not recorded, because ${differ.join("; ")}; ${see}`);
}

/**
 * After a terminal verdict, or after the hold's end, a further verdict would be recorded and change
 * nothing; approving a call of an ended conversation would refuse it for good.
 *
 * @throws ExitError that says what decides instead.
 */
function assertUndecided(hold: Hold, kind: HoldVerdict, nowMs: number): void {
  const { holdId, expiresAtMs } = hold.held;
  if (isDecided(hold)) {
    const said = hold.waiting.map(({ kind, by }) => `${kind} by ${shownSpeaker(by)}`);
    const is =
      said.length === 1 ? "is recorded, ends the hold and" : "are recorded, end the hold and";
    const what = `${said.join(" and ")} ${is} cannot be taken back; the next gate applies`;
    throw usageError(
      `${holdId}: not recorded, because ${what} ${said.length === 1 ? "it" : "them"}`,
    );
  }
  if (kind === "approve" && hold.isOfEnded) {
    const ended = "its conversation has ended, and the gate would refuse the call";
    throw usageError(`${holdId}: not recorded, because ${ended}; ${reopening(hold)}`);
  }
  if (nowMs < expiresAtMs) return;
  const ended = `it waited for an answer until ${new Date(expiresAtMs).toISOString()}`;
  throw usageError(
    `${holdId}: not recorded, because ${ended}; the next gate refuses the call, which can be proposed again`,
  );
}

function differs(what: string, seen: string | null | undefined, is: string, begins: string) {
  if (seen === undefined || seen === null || seen === begins) return null;
  return `the ${what} that waits is ${revealed(is, TEXT_CHARACTERS)}, not ${revealed(seen, TEXT_CHARACTERS)}`;
}

/** Prompts for a reason if the policy requires one and a person is at the terminal. */
async function reasonOf(
  { kind, reason }: VerdictCommand,
  { held }: Hold,
  terminal: Terminal,
): Promise<string | null> {
  if (reason !== undefined && hasVisible(reason)) return reason;
  if (kind !== "approve" || !held.requireReason) return null;
  const asked = terminal.isInteractive ? await askReason(held.call.tool, terminal) : "";
  if (asked !== "") return asked;
  throw usageError(`${held.holdId}: the policy requires a reason; give it with --reason`);
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
