import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../output/counted.ts";
import { printable } from "../output/printable.ts";
import type { Style } from "../output/style.ts";
import type { Output } from "../output/terminal.ts";
import { wrapped } from "../output/wrapped.ts";
import { type DemoSummary, type DemoView, type ShownKind, shortJson } from "./view.ts";

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
