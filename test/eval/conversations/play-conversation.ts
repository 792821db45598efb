/**
 * Plays one conversation through the library, in a gate of its own, with the clock of the
 * conversation.
 */
import type { Decision } from "../../../services/client/api/gate-types.ts";
import type { CallReport } from "../../../services/client/inputs/report.ts";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import type { Conversation, ConversationCall } from "./conversation.ts";

/** How long a call takes that runs, unless the agent waits for it and goes on sooner. */
const CALL_MS = 1_000;
const SECRET = "evaluation-of-conversations-0123";

/** The calls of one conversation, as one process at a time may play them: it sets the clock. */
export async function playConversation(
  policy: object,
  { id, calls }: Conversation,
): Promise<readonly Decision[]> {
  const realNow = Date.now;
  Date.now = () => calls[0]?.ts ?? 0;
  try {
    const gate = await openCallgate({ policy, dataDir: false, secret: SECRET });
    try {
      return await new Player(gate, id).play(calls);
    } finally {
      await gate.close();
    }
  } finally {
    Date.now = realNow;
  }
}

interface OpenCall {
  readonly decisionId: string;
  readonly endsAt: number;
  readonly report: CallReport;
}

class Player {
  readonly #gate: Callgate;
  readonly #conversationId: string;
  #open: OpenCall[] = [];

  constructor(gate: Callgate, conversationId: string) {
    this.#gate = gate;
    this.#conversationId = conversationId;
  }

  async play(calls: readonly ConversationCall[]): Promise<readonly Decision[]> {
    const decisions: Decision[] = [];
    for (const [index, call] of calls.entries()) {
      const isParallel = isOneStep(calls[index - 1], call);
      await this.#reportUntil(call.ts, !isParallel);
      decisions.push(await this.#propose(call, index));
    }
    return decisions;
  }

  async #propose(call: ConversationCall, index: number): Promise<Decision> {
    const { tool, args, turn, step, agent, ts } = call;
    Date.now = () => ts;
    const decision = await this.#gate.propose({
      conversationId: this.#conversationId,
      ...{ turn, step, agentId: agent, callId: `call-${index + 1}` },
      ...{ tool, arguments: args },
    });
    if (decision.outcome === "allowed") {
      const report = reportOf(call);
      this.#open.push({ decisionId: decision.decisionId, endsAt: ts + CALL_MS, report });
    }
    return decision;
  }

  /** Reports what has ended by then; `all`: the agent waited for the others too. */
  async #reportUntil(nowMs: number, all: boolean): Promise<void> {
    const ended = this.#open.filter(({ endsAt }) => all || endsAt <= nowMs);
    this.#open = this.#open.filter((call) => !ended.includes(call));
    for (const { decisionId, endsAt, report } of ended) {
      Date.now = () => Math.min(endsAt, nowMs);
      await this.#gate.report(decisionId, report);
    }
  }
}

/** Calls of one step are proposed together, before any of them has ended. */
function isOneStep(before: ConversationCall | undefined, call: ConversationCall): boolean {
  return call.step !== undefined && before?.step === call.step && before.turn === call.turn;
}

function reportOf({ output, is_error, unknown }: ConversationCall): CallReport {
  if (unknown === true) return { status: "unknown" };
  if (is_error === true) return { status: "failed", error: { message: output ?? "it failed" } };
  return { status: "succeeded", output: parseOutput(output ?? "") };
}

/** What the tool returned: an object where the text is one. */
function parseOutput(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
