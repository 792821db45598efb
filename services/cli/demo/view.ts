/** The demo's output: text for people, or JSON lines. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ReasonCode } from "../../core/reasons/reasons.ts";
import type { Style } from "../output/style.ts";
import type { Output } from "../output/terminal.ts";
import { counted, printable, wrapped } from "../output/text.ts";
import type { World } from "./world.ts";

export interface SceneTitle {
  /** Also the id of the scene's conversation. */
  readonly id: string;
  /** What the agent is doing. */
  readonly title: string;
  /** What would have happened without the gate. */
  readonly without: string;
}

export type ShownKind = "allowed" | "failed" | "answered" | "refused" | "held";

/** The outcome of one call. `words` are for people who have never heard of this project. */
export interface ShownDecision {
  readonly kind: ShownKind;
  readonly tool: string;
  readonly args: object;
  readonly reason: string | null;
  readonly words: string;
}

export type Totals = Readonly<Record<ShownKind, number>>;

export interface DemoView {
  readonly start: () => Promise<void>;
  readonly scene: (number: number, scene: SceneTitle) => Promise<void>;
  readonly decision: (shown: ShownDecision) => Promise<void>;
  /** A remark between two calls. */
  readonly say: (text: string) => Promise<void>;
  /** The message that the model gets for a refusal. */
  readonly message: (text: string) => Promise<void>;
  readonly end: (summary: DemoSummary) => Promise<void>;
}

interface DemoSummary {
  readonly totals: Totals;
  readonly world: World;
  /** Where the files are and what to try next, a line each. */
  readonly next: readonly string[];
}

/** JSON for reading, without quotes around names. */
export function shortJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${name}: ${JSON.stringify(member)}`,
  );
  return `{${members.join(", ")}}`;
}

/** One JSON object a line: scenes, decisions, and the totals at the end. */
export function jsonView(out: Output): DemoView {
  const print = (line: object) => out.write(`${JSON.stringify(line)}\n`);
  const nothing = async () => undefined;
  return {
    start: nothing,
    scene: (number, { id, title, without }) =>
      print({ type: "scene", number, conversationId: id, title, without }),
    decision: (shown) => print({ type: "decision", ...shown }),
    say: nothing,
    message: nothing,
    end: ({ totals, world }) => print({ type: "summary", totals, world }),
  };
}

/** Keeps the line of a decision within 100 columns. */
const CALL_COLUMNS = 50;
const WORDS_CHARACTERS = 35;
const TEXT_COLUMNS = 96;
const PAUSE_MS = 400;

const INTRODUCTION =
  "Callgate stands between an AI agent and its tools: each call is decided before it runs. " +
  "Here a scripted agent makes the mistakes that agents make. Nothing outside of this program " +
  "is touched.";

interface Label {
  readonly text: string;
  readonly paint: keyof Style;
}

const LABELS: Readonly<Record<ShownKind, Label>> = {
  allowed: { text: "✓ allowed ", paint: "good" },
  failed: { text: "✓ allowed ", paint: "good" },
  answered: { text: "= answered", paint: "good" },
  refused: { text: "✗ refused ", paint: "bad" },
  held: { text: "… held    ", paint: "waiting" },
};

export function textView(out: Output): DemoView {
  const { style } = out;
  return {
    start: () => out.write(`${wrapped(INTRODUCTION, TEXT_COLUMNS)}\n`),
    scene: async (number, { title, without }) => {
      // Lets a person read along; a pipe needs no pause.
      if (out.isTerminal) await sleep(PAUSE_MS);
      await out.write(`\n${style.bold(`${number}. ${title}`)}\n`);
      await out.write(`   ${style.dim(`without the gate: ${without}`)}\n`);
    },
    decision: ({ kind, tool, args, words }) => {
      const { text, paint } = LABELS[kind];
      const call = printable(`${tool} ${shortJson(args)}`, CALL_COLUMNS).padEnd(CALL_COLUMNS);
      return out.write(`  ${style[paint](text)} ${call} ${printable(words, WORDS_CHARACTERS)}\n`);
    },
    say: (text) => out.write(`   ${text}\n`),
    message: (message) => {
      const text = wrapped(`The agent is told: ${message}`, TEXT_COLUMNS - 4);
      return out.write(`${style.dim(text.replaceAll(/^/gm, "      "))}\n`);
    },
    end: (summary) => out.write(`\n${ending(summary).join("\n")}\n`),
  };
}

function ending({ totals, world, next }: DemoSummary): readonly string[] {
  const executed = totals.allowed + totals.failed;
  const calls = executed + totals.answered + totals.refused;
  const { documents, bills, payments, deletions } = world;
  return [
    `${calls} calls: ${executed} ran, ${totals.answered} answered from memory, ` +
      `${totals.refused} refused, ${totals.held} held for a person.`,
    `Done: ${counted(documents.length, "document")} instead of 14, ` +
      `${counted(bills.length, "bill")} instead of 3, ` +
      `${counted(payments.length, "payment")} instead of 3,`,
    deletions.length > 0
      ? "and the customer was deleted after a yes."
      : "and the customer is still there.",
    "",
    ...next,
  ];
}

const WORDS: Partial<Readonly<Record<ReasonCode, string>>> = {
  duplicate_call: "done already, nothing changed since",
  side_effect_conflict: "billed already, by another tool",
  user_input_required: "repeated too often: ask the user",
  tool_frequency: "too soon: ask again in a moment",
  loop_repeat: "the same again without anything new",
  failure_streak: "failed the same way too often",
  approval_required: "waits for a person",
  approval_denied: "a person said no",
};

export function plainWords(reason: ReasonCode): string {
  return WORDS[reason] ?? reason.replaceAll("_", " ");
}
