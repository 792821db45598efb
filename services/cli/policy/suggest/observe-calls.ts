/** What agents did: conversations of recordings, or of a journal. */
import { statSync } from "node:fs";
import type { DecisionEvent, GateEvent } from "../../../core/events.ts";
import { usageError } from "../../../process/exit-error.ts";
import type { JournalRecord } from "../../../runtime/journal.ts";
import { conversationKey } from "../../../runtime/partitioner.ts";
import { journalOf } from "../../cluster/journal-records.ts";
import { openSource } from "../../cluster/open-source.ts";
import { nameOfInput, readLines } from "../../input/read-lines.ts";
import type { Terminal } from "../../output/terminal.ts";
import {
  parseRecording,
  type RecordedCall,
  type RecordedConversation,
} from "../../replay/recording.ts";

/** Conversations beyond this are left out: all are in memory, for each suggestion is tried on them. */
const CONVERSATIONS_MAX = 20_000;

/**
 * A directory is the data directory of an embedded gate, a file a recording as for `replay`.
 *
 * @throws ExitError, PipelineError: a source cannot be read, or has a line that is no conversation.
 */
export async function observeCalls(
  paths: readonly string[],
  terminal: Terminal,
): Promise<readonly RecordedConversation[]> {
  const conversations: RecordedConversation[] = [];
  for (const path of paths) {
    const more = isDirectory(path) ? readJournal(path, terminal) : readRecordings(path);
    for await (const conversation of more) {
      if (conversations.length >= CONVERSATIONS_MAX) break;
      conversations.push(conversation);
    }
  }
  if (conversations.length > 0) return conversations;
  throw usageError(
    `there are no calls in ${paths.join(", ")}; name recordings or a data directory`,
  );
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function* readRecordings(path: string): AsyncGenerator<RecordedConversation> {
  for await (const { text, number } of readLines({ path })) {
    const parsed = parseRecording(text);
    if (parsed.ok) {
      yield parsed.conversation;
      continue;
    }
    const location = `${nameOfInput(path)}:${number}`;
    throw usageError(`${location}: ${parsed.problem}; correct the line or remove it`);
  }
}

type WritableCall = { -readonly [K in keyof RecordedCall]: RecordedCall[K] };

async function* readJournal(
  dataDir: string,
  terminal: Terminal,
): AsyncGenerator<RecordedConversation> {
  const source = await openSource({ config: undefined, dataDir }, terminal);
  const journal = new JournaledCalls();
  try {
    for await (const { record } of journalOf(source)) journal.add(record);
  } finally {
    await source.close();
  }
  yield* journal.conversations();
}

/** Decisions become calls; the results that follow become their outputs. */
class JournaledCalls {
  readonly #calls = new Map<string, WritableCall[]>();
  readonly #byDecision = new Map<string, WritableCall>();

  add({ events, input }: JournalRecord): void {
    for (const event of events) if (isDecision(event)) this.#addDecision(event);
    if (input.type !== "decided" || input.input.type !== "result") return;
    const { decisionId, status, output } = input.input;
    const call = this.#byDecision.get(decisionId);
    if (call === undefined) return;
    call.output = output;
    call.isError = status === "failed";
  }

  conversations(): readonly RecordedConversation[] {
    return [...this.#calls].map(([id, calls]) => ({ id, calls }));
  }

  #addDecision(event: DecisionEvent): void {
    // An approval decides a call again that is there already.
    if (this.#byDecision.has(event.decisionId)) return;
    const { tool, turn, step } = event.call;
    const call: WritableCall = {
      ...{ tool, turn, step, argumentsText: event.arguments.text || "{}" },
      ...{ output: null, outputHash: null, isError: false, atMs: event.times.atMs },
    };
    this.#byDecision.set(event.decisionId, call);
    const key = conversationKey(event.tenantId, event.conversationId);
    const calls = this.#calls.get(key);
    if (calls === undefined) this.#calls.set(key, [call]);
    else calls.push(call);
  }
}

function isDecision(event: GateEvent): event is DecisionEvent {
  return event.type === "allowed" || event.type === "refused" || event.type === "held";
}
