/** `callgate approvals list`. */
import { EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import { openSource, type SourceOptions } from "../cluster/open-source.ts";
import { conversationName } from "../conversations/conversation-name.ts";
import type { Style } from "../output/style.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { revealed, revealedJson } from "../output/text.ts";
import { findHolds } from "./find-holds.ts";
import type { Hold } from "./hold.ts";
import { shownSpeaker } from "./shown-names.ts";

const TEXT_CHARACTERS = 40;
const MS_PER_MINUTE = 60_000;

export async function listApprovals(
  options: SourceOptions,
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const source = await openSource(options, terminal);
  try {
    const holds = await findHolds(source);
    const text = json
      ? `${JSON.stringify({ approvals: holds.map(approvalOf) })}\n`
      : render(holds, Date.now(), terminal.out.style);
    await terminal.out.write(text);
  } finally {
    await source.close();
  }
  return EXIT_OK;
}

export function approvalOf({ held, waiting, approvedBy, isOfEnded }: Hold): object {
  const {
    holdId,
    tenantId,
    conversationId,
    call: { callId, agentId, tool },
    decisionId,
  } = held;
  const {
    arguments: { actionKey },
    ruleDigest,
  } = held;
  return {
    approvalId: holdId,
    ...{ tenantId, conversationId, callId, decisionId, agentId, tool },
    ...{ actionKey, ruleDigest },
    arguments: JSON.parse(held.arguments.text),
    heldAtMs: held.times.atMs,
    expiresAtMs: held.expiresAtMs,
    conversationEnded: isOfEnded,
    requireReason: held.requireReason,
    approvals: held.approvals,
    approvedBy,
    rule: held.rule,
    further: held.scope,
    message: held.message,
    verdict: waiting.at(-1) ?? null,
  };
}

function render(holds: readonly Hold[], nowMs: number, style: Style): string {
  if (holds.length === 0) return "no call waits for a person\n";
  const rows = holds.map(({ held, waiting, isOfEnded }) => [
    held.holdId,
    revealed(conversationName(held), TEXT_CHARACTERS),
    revealed(held.call.tool, TEXT_CHARACTERS),
    revealedJson(held.arguments.text, TEXT_CHARACTERS),
    isOfEnded ? "conversation ended" : expiry(held.expiresAtMs - nowMs),
    held.requireReason ? "yes" : "",
    waiting.map(({ kind, by }) => `${kind} by ${shownSpeaker(by)}`).join(", "),
  ]);
  const titles = [
    "approval",
    "conversation",
    "tool",
    "arguments",
    "expires",
    "reason required",
    "waits for a gate",
  ];
  return textTable(titles, rows, style);
}

function expiry(leftMs: number): string {
  if (leftMs <= 0) return "expired, not yet applied";
  return `in ${Math.ceil(leftMs / MS_PER_MINUTE)} min`;
}
