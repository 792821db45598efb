/** The rows of `policy explain` for the steps before the checks (`decide/decide-proposal.ts`). */
import type { CompiledTool } from "../policy/compiled.ts";
import type { ENTRY_ORDER } from "../reasons/gate-reasons.ts";
import type { ExplainRow } from "./explain-row.ts";

export const ENTRY_ROWS: Readonly<Record<(typeof ENTRY_ORDER)[number], ExplainRow>> = {
  envelope: {
    rule: () => "limits",
    value: ({ unenforced, policy }) =>
      `${unenforced.arguments.text.length} characters of at most ${policy.canonicalLimits.maxBytes} bytes`,
  },
  redelivery: {
    rule: () => "gate",
    value: () => "a call id that was not used before",
  },
  tool: {
    rule: ({ isDeclared, rule }) => (isDeclared ? rule : "unknown_tools"),
    value: ({ tool, commands }) =>
      `${tool.isDeclared ? "known" : "not known"}, a ${tool.isRead ? "read" : "write"}${commands.length > 0 ? "" : variant(tool)}`,
  },
  arguments: {
    rule: ({ rule }) => `${rule}.input_schema`,
    value: ({ tool }) => (tool.validate === null ? "no schema" : "checked against the schema"),
  },
};

function variant({ variant: name }: CompiledTool): string {
  return name === null ? "" : ` (variant ${name})`;
}
