/**
 * `callgate policy explain`: traces one call through every check, with its value and policy line.
 */
import { createInterface } from "node:readline";
import { parseCanonical } from "../../core/canonical/parse-canonical.ts";
import { openPolicy } from "../../gate/gate-policy.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { nameOfInput, readLines } from "../input/read-lines.ts";
import { parseJson } from "../output/read-json.ts";
import type { Style } from "../output/style.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { printable, wrapped } from "../output/text.ts";
import {
  gateTimes,
  parseRecordedCall,
  parseRecording,
  type RecordedCall,
  type RecordedConversation,
} from "../replay/recording.ts";
import { ConversationRun, proposalOf, replayPolicy } from "../replay/replay-conversation.ts";
import {
  type CheckResult,
  type ExplainedCheck,
  type Explanation,
  explainCall,
} from "./explain-call.ts";

export interface ExplainCommandOptions {
  readonly policy: readonly string[];
  /** JSON, or `-` for stdin. Undefined: the last call of the conversation. */
  readonly call: string | undefined;
  /** A recording of the one conversation before the call; `-` for stdin. */
  readonly conversation: string | undefined;
  readonly json: boolean;
}

const OPTIONS = { feedRefused: false, applyStops: true, heldAllow: false };

export async function runExplain(
  options: ExplainCommandOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const gatePolicy = await openPolicy(options.policy);
  const policy = replayPolicy(gatePolicy);
  const calls = await callsOf(options, terminal);
  const run = new ConversationRun(policy, OPTIONS);
  const times = gateTimes(calls);
  const last = calls.length - 1;
  calls.slice(0, last).forEach((call, index) => {
    run.propose(call, calls[index - 1], index, times[index] ?? 0);
  });
  const call = calls[last];
  if (call === undefined) throw usageError("there is no call to explain; give one with --call");
  const nowMs = times[last] ?? 0;
  const state = run.stateBefore(call, calls[last - 1], nowMs);
  const { source } = gatePolicy.loaded;
  const explanation = explainCall(state, proposalOf(call, last), policy, source, nowMs);
  const { style } = terminal.out;
  await terminal.out.write(
    options.json ? `${JSON.stringify(explanation)}\n` : render(explanation, style),
  );
  return EXIT_OK;
}

async function callsOf(
  { call, conversation }: ExplainCommandOptions,
  terminal: Terminal,
): Promise<readonly RecordedCall[]> {
  const before = conversation === undefined ? [] : (await onlyOf(conversation)).calls;
  if (call === undefined) return before;
  const text = call === "-" ? await allOf(terminal) : call;
  const name = call === "-" ? "stdin" : "--call";
  const parsed = parseRecordedCall(asRecorded(parseStrictly(text, name), name));
  if (!parsed.ok) throw usageError(`${name}: ${parsed.problem}; e.g. {"tool": "…", "args": {…}}`);
  return [...before, parsed.call];
}

/** Larger than any call may be: the gate's own limits apply later. */
const LIMITS = { maxBytes: 16 * 1024 * 1024, maxDepth: 200, maxKeys: 100_000 };

/**
 * The gate refuses what parsers read differently; explaining one parser's reading would explain
 * another call.
 */
function parseStrictly(text: string, name: string): unknown {
  const value = parseJson(text, name);
  const strict = parseCanonical(text.replace(/^\ufeff/, ""), LIMITS);
  if (strict.ok) return value;
  throw usageError(`${name}: ${strict.message}; the gate refuses such a call as ${strict.reason}`);
}

/** Accepts a call as the library takes it, with `arguments`, like a recorded one. */
function asRecorded(call: unknown, name: string): unknown {
  if (typeof call !== "object" || call === null || !("arguments" in call) || "args" in call) {
    return call;
  }
  const { arguments: args, ...others } = call;
  return { ...others, args: typeof args === "string" ? parseStrictly(args, name) : args };
}

/**
 * A file with several conversations is an error: guessing would give another state before the call.
 */
async function onlyOf(path: string): Promise<RecordedConversation> {
  const name = nameOfInput(path);
  let only: RecordedConversation | undefined;
  let count = 0;
  for await (const { text, number } of readLines({ path })) {
    count += 1;
    if (count > 1) continue;
    const parsed = parseRecording(text);
    if (!parsed.ok) throw usageError(`${name}:${number}: ${parsed.problem}; correct the line`);
    only = parsed.conversation;
  }
  if (only === undefined) throw usageError(`${name}: contains no conversation; name a recording`);
  if (count === 1) return only;
  throw usageError(
    `${name}: contains ${count} conversations, one per line, and a call follows only one; pass that line alone: sed -n 1p FILE | callgate policy explain --conversation -`,
  );
}

async function allOf(terminal: Terminal): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: terminal.input })) lines.push(line);
  return lines.join("\n");
}

/** Column width of a check's value; the rest wraps. */
const LINE_CHARACTERS = 60;
const VALUE_CHARACTERS = 4_000;

function render(explanation: Explanation, style: Style): string {
  const { tool, isRead, outcome, reason, message, checks } = explanation;
  const why = reason === null ? "" : ` (${reason})`;
  const paint = outcome === "allowed" ? style.good : outcome === "held" ? style.waiting : style.bad;
  const rows = checks.map((check) => [
    check.number,
    check.check,
    resultText(check, style),
    wrapped(printable(check.value, VALUE_CHARACTERS), LINE_CHARACTERS),
    check.location,
  ]);
  return [
    `${style.bold(printable(tool, LINE_CHARACTERS))}, a ${isRead ? "read" : "write"}: ${paint(outcome)}${why}\n`,
    message === null ? "" : `${message}\n`,
    "\n",
    textTable(["", "check", "result", "value", "rule"], rows, style, [0]),
  ].join("");
}

const PAINTS: Readonly<Record<CheckResult, keyof Style>> = {
  passes: "good",
  decides: "bad",
  "would refuse": "waiting",
  warns: "waiting",
  shadow: "waiting",
  off: "dim",
};

function resultText({ result, reason }: ExplainedCheck, style: Style): string {
  const text = style[PAINTS[result]](result);
  return reason === null ? text : `${text} ${reason}`;
}
