/** Appends a verdict and waits until the gate journals its effect. */
import { verdictFrom } from "../../client/inputs/ruling.ts";
import type { GateEvent, IgnoredWhy } from "../../core/events.ts";
import { conversationKey, partitionOf } from "../../runtime/partitioner.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { readJournaled } from "../cluster/journal-records.ts";
import { dataDirOf, type Source, type SourceOptions } from "../cluster/open-source.ts";

/** How long to wait for a gate to process the verdict. */
const WAIT_MS = 3_000;

/**
 * The message for a verdict without an answer: a gate may run and be slow, or own other partitions.
 */
export function notTaken(source: SourceOptions): string {
  const gate =
    dataDirOf(source) === undefined
      ? "the gate of its partition will, once it runs"
      : "the next program that opens the directory will";
  return `no gate has processed it within ${WAIT_MS / 1_000} s; ${gate}`;
}
const READ_LIMITS = { recordsMax: 1_000, bytesMax: 16 * 1024 * 1024 };

/** The events that the verdict caused; null if no gate processed it in time: the next one does. */
export async function sendVerdict(
  fields: Parameters<typeof verdictFrom>[0],
  source: Source,
): Promise<readonly GateEvent[] | null> {
  const { log, codec } = source;
  const verdict = verdictFrom(fields);
  const key = conversationKey(verdict.tenantId, verdict.conversationId);
  const partition = partitionOf(key, log.partitions);
  let from = await log.endOffset(JOURNAL_TOPIC, partition);
  const value = codec.encodeVerdict(verdict);
  const [appended] = await log.append([{ topic: "verdicts", partition, key, value }]);
  const untilMs = performance.now() + WAIT_MS;
  for (let leftMs = WAIT_MS; leftMs > 0; leftMs = untilMs - performance.now()) {
    await log.waitForNew([{ topic: JOURNAL_TOPIC, partition, offset: from }], leftMs);
    const read = await log.read(JOURNAL_TOPIC, partition, from, READ_LIMITS);
    for (const one of read.records) {
      const record = await readJournaled(source, partition, one);
      if (record === null || record.input.type === "idle") continue;
      const { input, events } = record;
      if (input.at.topic === "verdicts" && input.at.offset === appended?.offset) return events;
    }
    from = read.nextOffset;
  }
  return null;
}

/** Why a verdict changed nothing, and what to do. */
export const IGNORED_SENTENCES: Readonly<Record<IgnoredWhy, string>> = {
  unknown_call: "no call with this decision is open in the conversation; see callgate explain",
  unknown_approval: "no call waits under this id any more; see callgate approvals list",
  already_decided: "this person has already approved; somebody else must",
  already_reported: "its result is already recorded; see callgate explain",
  reason_required: "the policy requires a reason; give it with --reason",
  approvals_required:
    "the tier requires several approvals, and each call needs its own; leave out --calls and --for",
  self_approval: "the agent that proposed the call cannot approve it; somebody else must",
  not_unknown:
    "the outcome of the call is already recorded, or still pending; see callgate explain",
  wrong_call: "the waiting call is not the one that was reviewed; see callgate approvals show",
  wrong_action:
    "the waiting call has other arguments than the one that was reviewed; see callgate approvals show",
  wrong_rule:
    "the call waits under another rule than the one that was reviewed; see callgate approvals show",
  unknown_conversation: "the gate has no such conversation; see callgate tail",
  unknown_grant:
    "the policy has no such tier or tool, the tool's rule depends on its arguments (name the tier), the grant has ended, or the conversation has too many grants; see the policy",
  not_supported: "this gate does not support such verdicts; update it",
};
