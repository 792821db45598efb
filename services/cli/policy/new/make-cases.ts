/** Three made-up conversations for a policy, with what the engine decides on them. */
import { readCases } from "../../../adapters/policy/read-cases.ts";
import { writeYaml } from "../../../adapters/policy/write-yaml.ts";
import type { DecisionEvent } from "../../../core/events.ts";
import type { CompiledPolicy } from "../../../core/policy/compiled.ts";
import type { PolicyDocument, ToolDocument } from "../../../core/policy/document.ts";
import { formatProblem } from "../../../core/policy/problem.ts";
import { usageError } from "../../../process/exit-error.ts";
import { runCase } from "../test/run-case.ts";
import { sampleArguments } from "./sample-arguments.ts";

export type MadeCall = {
  readonly tool: string;
  readonly args: object;
  /** As `policy test` compares it: an outcome or a reason, and whether it was answered. */
  readonly expect: string | { readonly reason: string; readonly answered: boolean };
};

export type MadeCase = { readonly name: string; readonly calls: readonly MadeCall[] };

type Wanted = {
  readonly name: string;
  readonly calls: 1 | 2;
  /** Whether the last decision shows what the conversation is about. */
  readonly shows: (last: DecisionEvent) => boolean;
  readonly isRead: boolean;
};

export const HELD_CASE = "a call waits for a person";

const WANTED: readonly Wanted[] = [
  {
    name: "a write is repeated",
    ...{ calls: 2, isRead: false },
    shows: (last) => last.type === "refused",
  },
  {
    name: HELD_CASE,
    ...{ calls: 1, isRead: false },
    shows: (last) => last.type === "held",
  },
  {
    name: "a read is repeated",
    ...{ calls: 2, isRead: true },
    shows: (last) => last.type === "refused" && last.answered !== null,
  },
];

/** Those of the three that some tool of the policy can show. */
export function makeCases(document: PolicyDocument, compiled: CompiledPolicy): readonly MadeCase[] {
  return WANTED.flatMap((wanted) => {
    for (const [tool, { input_schema: schema }] of byWeight(document)) {
      const { isRead, validate } = compiled.tool(tool);
      if (isRead !== wanted.isRead) continue;
      const args = sampleArguments(schema);
      if (args === null || (validate?.(args) ?? []).length > 0) continue;
      const made = playCalls(tool, args, wanted, compiled);
      if (made !== null) return [made];
    }
    return [];
  });
}

/** Tools that move money or send something show best what a repeat would do. */
function byWeight({ tool_schemas: tools = {} }: PolicyDocument) {
  const weigh = ({ effects = [] }: ToolDocument): number =>
    effects.some(({ kind }) => kind === "charge" || kind === "send") ? 0 : 1;
  return Object.entries(tools).sort(([, a], [, b]) => weigh(a) - weigh(b));
}

function playCalls(
  tool: string,
  args: object,
  { name, calls, shows }: Wanted,
  compiled: CompiledPolicy,
): MadeCase | null {
  const written = Array.from({ length: calls }, () => ({ tool, args, result: "done" }));
  const decisions = decideCalls([{ name, calls: written }], compiled);
  const last = decisions.at(-1);
  const [first] = decisions;
  const isClear = calls === 1 || first?.type === "allowed";
  if (last === undefined || !shows(last) || !isClear) return null;
  return {
    name,
    calls: decisions.map((decision) => ({ tool, args, expect: expectationOf(decision) })),
  };
}

function decideCalls(cases: readonly object[], compiled: CompiledPolicy): readonly DecisionEvent[] {
  const read = readCases({ name: "made-up cases", text: writeYaml({ cases }) });
  if (!read.ok) throw usageError(read.problems.map(formatProblem));
  return read.cases.flatMap((one) => runCase(one, compiled).map(({ decision }) => decision));
}

function expectationOf(decision: DecisionEvent): MadeCall["expect"] {
  if (decision.type !== "refused") return decision.type;
  const { reason } = decision.refusal;
  return decision.answered === null ? reason : { reason, answered: true };
}

/** The text of a file of cases. */
export function casesText(cases: readonly MadeCase[], policyFile: string): string {
  const written = cases.map(({ name, calls }) => ({
    name,
    calls: calls.map((call) => ({ ...call, result: "done" })),
  }));
  return writeYaml({ cases: written }, [`Run with: callgate policy test -p ${policyFile}`]);
}
