import { createInterface } from "node:readline/promises";
import type { Readable } from "node:stream";
import type { Output } from "../output/terminal.ts";

/** Asks for y or n; end of input counts as no. */
export async function askPerson(
  question: string,
  input: Readable,
  output: Output,
): Promise<boolean> {
  const lines = createInterface({ input, terminal: false });
  await output.write(`${question} [y/N] `);
  try {
    const { value } = await lines[Symbol.asyncIterator]().next();
    return typeof value === "string" && /^\s*(y|yes)\s*$/i.test(value);
  } finally {
    lines.close();
  }
}
