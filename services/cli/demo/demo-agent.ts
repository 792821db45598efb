/** The scripted agent: makes one call after the other and prints what became of each. */

import { type Callgate, isRefused, type Refused } from "../../sdk/callgate.ts";
import { printable } from "../output/printable.ts";
import type { Output } from "../output/terminal.ts";
import { plainWords } from "./plain-words.ts";
import { createWorld, type World, type WorldTools } from "./world.ts";

export interface Totals {
  allowed: number;
  failed: number;
  answered: number;
  refused: number;
  held: number;
}

type ToolName = keyof WorldTools & string;
type ArgumentsOf<Name extends ToolName> = Parameters<WorldTools[Name]>[0];

/** What came of a call, in one line. */
interface Told {
  readonly kind: keyof Totals;
  readonly words: string;
}

/** A line has at most 100 columns. */
const CALL_COLUMNS = 50;
const WORDS_CHARACTERS = 35;

const LABELS: Readonly<Record<keyof Totals, string>> = {
  allowed: "✓ allowed ",
  failed: "✓ allowed ",
  answered: "= answered",
  refused: "✗ refused ",
  held: "… held    ",
};

export class DemoAgent {
  readonly world: World;
  readonly totals: Totals = { allowed: 0, failed: 0, answered: 0, refused: 0, held: 0 };
  readonly #output: Output;
  readonly #tools: ReturnType<typeof guarded>;
  #conversationId = "";
  #step = 0;
  #ran = false;

  constructor(gate: Callgate, output: Output) {
    const { world, tools } = createWorld(() => {
      this.#ran = true;
    });
    this.world = world;
    this.#output = output;
    this.#tools = guarded(gate, tools, () => ({
      conversationId: this.#conversationId,
      turn: 1,
      step: this.#step,
    }));
  }

  begin(conversationId: string): void {
    this.#conversationId = conversationId;
    this.#step = 0;
  }

  /** Makes one call and prints its line. Gives the refusal, where it did not run. */
  async call<Name extends ToolName>(
    name: Name,
    args: ArgumentsOf<Name>,
  ): Promise<Refused | undefined> {
    this.#step += 1;
    return this.again(name, args);
  }

  /** The same call under the same id: once it is approved, it runs. */
  async again<Name extends ToolName>(
    name: Name,
    args: ArgumentsOf<Name>,
  ): Promise<Refused | undefined> {
    this.#ran = false;
    const run = this.#tools[name] as (given: object, options: object) => Promise<unknown>;
    try {
      const answer = await run(args, { callId: `call-${this.#step}` });
      const refused = isRefused(answer) ? answer : undefined;
      await this.#print(name, args, this.#told(answer, refused));
      return refused;
    } catch (error) {
      if (!this.#ran) throw error;
      const words = `failed: ${error instanceof Error ? error.message : String(error)}`;
      await this.#print(name, args, { kind: "failed", words });
      return undefined;
    }
  }

  #told(answer: unknown, refused: Refused | undefined): Told {
    if (refused?.outcome === "held") return { kind: "held", words: plainWords(refused.reason) };
    if (refused !== undefined) return { kind: "refused", words: plainWords(refused.reason) };
    if (!this.#ran) return { kind: "answered", words: "read before: answered from memory" };
    return { kind: "allowed", words: `ran: ${shortJson(answer)}` };
  }

  async #print(name: string, args: object, { kind, words }: Told): Promise<void> {
    this.totals[kind] += 1;
    const { style } = this.#output;
    const paint = { allowed: style.good, failed: style.good, answered: style.good };
    const label = (kind === "refused" ? style.bad : (paint[kind as "allowed"] ?? style.waiting))(
      LABELS[kind],
    );
    const call = printable(`${name} ${shortJson(args)}`, CALL_COLUMNS).padEnd(CALL_COLUMNS);
    await this.#output.write(`  ${label} ${call} ${printable(words, WORDS_CHARACTERS)}\n`);
  }
}

function guarded(
  gate: Callgate,
  tools: WorldTools,
  context: () => { conversationId: string; turn: number; step: number },
) {
  return gate.guard(tools, context);
}

/** JSON without the quotes around names: for reading. */
function shortJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${name}: ${JSON.stringify(member)}`,
  );
  return `{${members.join(", ")}}`;
}
