/** Tells whether the operands of a command fit a form, and stores those that are paths. */
import type { Operand, OperandShape, Program } from "./program-spec.ts";
import { type Reading, takeWord } from "./reading.ts";

/** Null where they fit, or what does not. `hasCommand`: a command follows after the operands. */
export function fitOperands(
  { plain, command, least }: OperandShape,
  reading: Reading,
  program: Program,
  hasCommand: boolean,
): string | null {
  const { operands } = reading;
  if (command?.repeat === "once" && !hasCommand) return "there is no command in it";
  let spare = operands.length - least;
  if (spare < 0) return `${least} operands are needed`;
  let index = 0;
  for (const operand of plain) {
    const count = countWords(operand, spare);
    if (operand.repeat !== "once" || operand.kind === "rest") spare -= count;
    for (const end = index + count; index < end; index += 1) {
      const word = operands[index] ?? "";
      if (!takeWord(reading, program, operand, word)) return `the operand ${word} is not known`;
    }
  }
  return index < operands.length ? `the operand ${operands[index]} is one too many` : null;
}

function countWords({ kind, repeat }: Operand, spare: number): number {
  if (repeat === "many" || kind === "rest") return spare;
  return repeat === "maybe" ? Math.min(1, spare) : 1;
}
