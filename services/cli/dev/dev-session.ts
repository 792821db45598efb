/** Lines in, decisions out: each line gets one line of output, even if it is invalid. */
import { CallgateError } from "../../client/api/callgate-error.ts";
import { decodeUtf8, firstInvalidByte } from "../../core/canonical/utf8.ts";
import type { Callgate, Decision, ProposedCall } from "../../library/callgate.ts";
import type { Line } from "../input/read-lines.ts";
import type { Terminal } from "../output/terminal.ts";
import { type CallReference, type ParsedLine, parseLine } from "./parse-line.ts";

const IN_FLIGHT_MAX = 256;

type Result = Extract<ParsedLine, { readonly type: "result" }>;

export class DevSession {
  readonly #gate: Callgate;
  readonly #terminal: Terminal;
  readonly #names = new CallNames();
  readonly #ended = new AbortController();
  /** The latest unfinished line of each conversation. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  /** Waits for held calls, which need not end before the session does. */
  readonly #waiting = new Set<Promise<void>>();
  /** Errors that kept a line from being answered: the first is thrown when the session ends. */
  readonly #failures: unknown[] = [];
  #rejected = 0;

  constructor(gate: Callgate, terminal: Terminal) {
    this.#gate = gate;
    this.#terminal = terminal;
  }

  /** How many lines were answered with an error. */
  get rejected(): number {
    return this.#rejected;
  }

  /**
   * Resolves when all lines are answered. @throws what reading threw, or an output that is closed.
   */
  async run(lines: AsyncIterable<Line>): Promise<void> {
    for await (const line of lines) {
      if (this.#failures.length > 0) break;
      this.#take(line);
      if (this.#running.size >= IN_FLIGHT_MAX) await Promise.race(this.#running);
    }
    await Promise.all(this.#running);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  /** Stops waiting for held calls. */
  async close(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#waiting);
  }

  #take({ bytes, number }: Line): void {
    const parsed = parsedOf(bytes);
    if (parsed === null) return;
    const conversation = conversationOf(parsed, number);
    const before = this.#last.get(conversation) ?? Promise.resolve();
    const run = before
      .then(() => this.#handle(parsed, number))
      .catch((error: unknown) => {
        this.#failures.push(error);
      })
      .finally(() => {
        this.#running.delete(run);
        if (this.#last.get(conversation) === run) this.#last.delete(conversation);
      });
    this.#running.add(run);
    this.#last.set(conversation, run);
  }

  async #handle(parsed: ParsedLine, line: number): Promise<void> {
    if (parsed.type === "problem") {
      const { message, column } = parsed;
      return this.#reject({ line, ...(column === null ? {} : { column }), message });
    }
    try {
      if (parsed.type === "proposal") await this.#propose(parsed.call, line);
      else await this.#report(parsed, line);
    } catch (error) {
      if (!(error instanceof CallgateError)) throw error;
      await this.#reject({ line, code: error.code, message: error.message });
    }
  }

  async #propose(call: ProposedCall, line: number): Promise<void> {
    const decision = await this.#gate.propose(call);
    const { decisionId, callId } = decision;
    if (decisionId !== undefined) this.#names.remember(nameOf({ ...call, callId }), decisionId);
    await this.#print({ type: "decision", line, ...decision });
    if (decision.outcome === "held" && decisionId !== undefined) this.#await(decisionId, line);
  }

  /** Prints a person's decision, which may come from another process. */
  #await(decisionId: string, line: number): void {
    const { signal } = this.#ended;
    const wait = this.#gate
      .awaitDecision(decisionId, { signal })
      .then((decision: Decision) => this.#print({ type: "decision", line, ...decision }))
      .catch((error: unknown) => {
        const isExpected = error instanceof CallgateError || signal.aborted;
        if (!isExpected) this.#failures.push(error);
      })
      .finally(() => this.#waiting.delete(wait));
    this.#waiting.add(wait);
  }

  async #report({ of, report }: Result, line: number): Promise<void> {
    const decisionId = this.#names.find(of);
    if (decisionId === undefined) {
      const message = "no call was proposed here under these names; give its `decisionId`";
      return this.#reject({ line, message });
    }
    const outcome = await this.#gate.report(decisionId, report);
    await this.#print({ type: "result", line, decisionId, ...outcome });
  }

  #reject(line: object): Promise<void> {
    this.#rejected += 1;
    return this.#print({ type: "error", ...line });
  }

  #print(line: object): Promise<void> {
    return this.#terminal.out.write(`${JSON.stringify(line)}\n`);
  }
}

/** A result by decision id waits for nothing: its decision was printed before. */
function conversationOf(parsed: ParsedLine, line: number): string {
  switch (parsed.type) {
    case "proposal":
      return nameOfConversation(parsed.call);
    case "result":
      return "decisionId" in parsed.of ? parsed.of.decisionId : nameOfConversation(parsed.of);
    case "problem":
      return `line ${line}`;
  }
}

function nameOfConversation(call: Pick<ProposedCall, "tenantId" | "conversationId">): string {
  return JSON.stringify([call.tenantId ?? "default", call.conversationId]);
}

/** Null: a blank line. */
function parsedOf(bytes: Buffer | null | undefined): ParsedLine | null {
  if (bytes === undefined || bytes === null) {
    return { type: "problem", message: "the line is longer than 2 MiB; send less", column: null };
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    const message = `the line is not UTF-8 at byte ${firstInvalidByte(bytes)}; encode it as UTF-8`;
    return { type: "problem", message, column: null };
  }
  return text.trim() === "" ? null : parseLine(text);
}

const REMEMBERED = 100_000;

/**
 * Decision ids by the names of their calls, so that a result may refer to its call by the names
 * that it was proposed under.
 */
class CallNames {
  readonly #decisionIds = new Map<string, string>();

  remember(name: string, decisionId: string): void {
    const oldest = this.#decisionIds.keys().next().value;
    if (this.#decisionIds.size >= REMEMBERED && oldest !== undefined) {
      this.#decisionIds.delete(oldest);
    }
    this.#decisionIds.set(name, decisionId);
  }

  find(of: CallReference): string | undefined {
    return "decisionId" in of ? of.decisionId : this.#decisionIds.get(nameOf(of));
  }
}

/** The same for a proposal and for a result that refers to it. */
function nameOf(call: Exclude<CallReference, { readonly decisionId: string }>): string {
  const { tenantId, conversationId, turn, step, callId } = call;
  const text = (count: string | number | undefined) => (count === undefined ? null : String(count));
  return JSON.stringify([tenantId ?? "default", conversationId, text(turn), text(step), callId]);
}
