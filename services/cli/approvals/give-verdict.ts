/**
 * `callgate approvals approve|deny`: appends the verdict to the log. The gate that runs there takes it;
 * where none runs, the next one does.
 */
import { userInfo } from "node:os";
import type { GateEvent } from "../../core/events.ts";
import type { VerdictInput } from "../../core/inputs.ts";
import { conversationKey } from "../../runtime/partitioner.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import type { EmbeddedClient } from "../../sdk/open-embedded.ts";
import { usageError } from "../output/cli-error.ts";
import { EXIT_OK, EXIT_USAGE, type ExitCode } from "../output/exit-codes.ts";
import type { Terminal } from "../output/terminal.ts";
import { findHolds, type Hold, openLog } from "./find-holds.ts";

export interface VerdictCommand {
  readonly kind: "approve" | "deny";
  /** The approval id, or the beginning of one. */
  readonly id: string;
  readonly dataDir: string;
  readonly by: string | undefined;
  readonly reason: string | undefined;
  readonly json: boolean;
}

/** How long to wait for a gate to take the verdict. */
const WAIT_MS = 3_000;
const READ_RECORDS = 1_000;
const READ_BYTES = 16 * 1024 * 1024;

export async function giveVerdict(command: VerdictCommand, terminal: Terminal): Promise<ExitCode> {
  const client = openLog(command.dataDir);
  try {
    const hold = await holdOf(command, client);
    if (command.kind === "approve" && hold.held.requireReason && !command.reason?.trim()) {
      throw usageError(`${hold.held.holdId}: the policy wants a reason; give it with --reason`);
    }
    const events = await send(verdictOf(command, hold), hold.partition, client);
    return await tell(command, hold, events, terminal);
  } finally {
    await client.close();
  }
}

async function holdOf({ id, dataDir }: VerdictCommand, client: EmbeddedClient): Promise<Hold> {
  const holds = await findHolds(client);
  const found = holds.filter(({ held }) => held.holdId.startsWith(id));
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  const what = found.length === 0 ? "no call waits under this id" : `fits ${found.length} calls`;
  throw usageError(`${id}: ${what}; see: callgate approvals list --data-dir ${dataDir}`);
}

function verdictOf({ kind, by, reason }: VerdictCommand, { held }: Hold): VerdictInput {
  return {
    type: "verdict",
    kind,
    tenantId: held.tenantId,
    conversationId: held.conversationId,
    approvalId: held.holdId,
    decisionId: null,
    outcome: null,
    tier: null,
    tool: null,
    calls: null,
    untilMs: null,
    by: by ?? userInfo().username,
    reason: reason ?? null,
  };
}

/** What the gate made of it; null where none took it in time. */
async function send(
  verdict: VerdictInput,
  partition: number,
  { log, codec }: EmbeddedClient,
): Promise<readonly GateEvent[] | null> {
  let from = await log.endOffset(JOURNAL_TOPIC, partition);
  const key = conversationKey(verdict.tenantId, verdict.conversationId);
  const value = codec.encodeVerdict(verdict);
  const [appended] = await log.append([{ topic: "verdicts", partition, key, value }]);
  const untilMs = performance.now() + WAIT_MS;
  for (let leftMs = WAIT_MS; leftMs > 0; leftMs = untilMs - performance.now()) {
    await log.waitForNew([{ topic: JOURNAL_TOPIC, partition, offset: from }], leftMs);
    const limits = { recordsMax: READ_RECORDS, bytesMax: READ_BYTES };
    const read = await log.read(JOURNAL_TOPIC, partition, from, limits);
    for (const { value: bytes } of read.records) {
      if (bytes === null) continue;
      const { input, events } = codec.decodeJournal(bytes);
      if (input.type === "idle") continue;
      if (input.at.topic === "verdicts" && input.at.offset === appended?.offset) return events;
    }
    from = read.nextOffset;
  }
  return null;
}

async function tell(
  { json, kind }: VerdictCommand,
  { held }: Hold,
  events: readonly GateEvent[] | null,
  terminal: Terminal,
): Promise<ExitCode> {
  const event = events?.[0];
  const outcome = outcomeOf(event);
  const { holdId: approvalId, tool } = held;
  const told = json
    ? JSON.stringify({ approvalId, verdict: kind, taken: events !== null, ...outcome })
    : `${approvalId} ${tool}: ${sentence(kind, events, outcome)}`;
  await terminal.out.write(`${told}\n`);
  return outcome.ignored === undefined ? EXIT_OK : EXIT_USAGE;
}

interface VerdictOutcome {
  readonly outcome?: "allowed" | "refused" | "held";
  readonly reason?: string;
  /** Why the verdict changed nothing. */
  readonly ignored?: string;
}

function outcomeOf(event: GateEvent | undefined): VerdictOutcome {
  switch (event?.type) {
    case "allowed":
    case "held":
      return { outcome: event.type };
    case "refused":
      return { outcome: "refused", reason: event.refusal.reason };
    case "ignored":
      return { ignored: event.why };
    default:
      return {};
  }
}

function sentence(
  kind: "approve" | "deny",
  events: readonly GateEvent[] | null,
  { outcome, reason, ignored }: VerdictOutcome,
): string {
  if (events === null) return `${kind} is recorded; no gate runs there, the next one takes it`;
  if (ignored !== undefined) return `changed nothing: ${ignored.replaceAll("_", " ")}`;
  if (outcome === "held") return "held anew, under another id: the rule has changed";
  return reason === undefined ? `${outcome}` : `${outcome} (${reason})`;
}
