/** Asks what an import leaves open, on the terminal. */
import { createInterface } from "node:readline";
import type { Terminal } from "../../output/terminal.ts";
import type { DefaultAction } from "../import/policy-text.ts";

export type Question = { readonly tool: string; readonly reason: string };

export type Answers = {
  /** Of the tools that were asked about: whether each reads. */
  readonly reads: ReadonlyMap<string, boolean>;
  readonly defaultAction: DefaultAction;
};

const ACTIONS: readonly DefaultAction[] = ["allow", "ask", "deny"];

/** An empty line takes the answer in capitals; so does the end of the input. */
export async function askQuestions(
  questions: readonly Question[],
  terminal: Terminal,
): Promise<Answers> {
  const reader = createInterface({ input: terminal.input, terminal: false });
  const lines = reader[Symbol.asyncIterator]();
  const ask = async (text: string): Promise<string> => {
    await terminal.err.write(text);
    const line = await lines.next();
    return line.done === true ? "" : line.value.trim().toLowerCase();
  };
  try {
    const reads = new Map<string, boolean>();
    for (const { tool, reason } of questions) {
      const answer = await ask(`Does ${tool} only read? (${reason}) [y/N] `);
      reads.set(tool, answer === "y" || answer === "yes");
    }
    return { reads, defaultAction: await askDefault(ask) };
  } finally {
    reader.close();
  }
}

const TRIES_MAX = 3;

async function askDefault(ask: (text: string) => Promise<string>): Promise<DefaultAction> {
  const text = "What happens to a write that no tier names? [ALLOW/ask/deny] ";
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await ask(text);
    if (answer === "") return "allow";
    const action = ACTIONS.find((one) => one === answer);
    if (action !== undefined) return action;
  }
  return "ask";
}
