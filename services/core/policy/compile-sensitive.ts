/** Arguments whose values are stored nowhere in clear text. */
import { inOrder, type SensitivePath } from "../seal/sensitive-values.ts";
import { commandArgument } from "./command-argument.ts";
import type { CompileProblem } from "./compile-identity.ts";
import type { ToolDocument } from "./document.ts";
import { policyPath } from "./path.ts";

const NONE: readonly SensitivePath[] = [];

/**
 * A path that matches no member would leave in clear text what its author believes to be hidden.
 */
const NO_MEMBER = /^$|[[\]{}*]|^\$$|^\s|\s$/;

export function compileSensitive(
  { sensitive, variants, commands, idempotency_argument: key = "" }: ToolDocument,
  tool: string,
  problems: CompileProblem[],
): readonly SensitivePath[] {
  if (sensitive === undefined || sensitive.length === 0) return NONE;
  const paths: SensitivePath[] = [];
  sensitive.forEach((text, index) => {
    const path = policyPath(["tool_schemas", tool, "sensitive", index]);
    const keys = text.split(".");
    const chooses = commands === undefined ? variants?.argument : commandArgument(commands);
    if (keys.some((key) => NO_MEMBER.test(key))) {
      const remedy = "write member names with dots, `customer.card`; a list is hidden as a whole";
      problems.push({ path, message: `\`${text}\` names no argument: ${remedy}` });
    } else if (chooses !== undefined && areNested(text, chooses)) {
      const why = "what a call does could not be read from the journal";
      problems.push({
        path,
        message: `\`${text}\` says what a call does, and cannot be hidden: ${why}`,
      });
    } else if (key.startsWith(`${text}.`)) {
      const remedy = "name its other members";
      problems.push({ path, message: `\`${text}\` holds the idempotency argument: ${remedy}` });
    } else {
      paths.push(keys);
    }
  });
  return inOrder(paths);
}

function areNested(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}
