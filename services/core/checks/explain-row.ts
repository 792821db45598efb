/**
 * What `policy explain` shows of a check: what the check looked at, and which rule of the policy
 * applies. The steps before the checks (`decide/decide-proposal.ts`) have their rows here.
 */
import type { JsonObject } from "../canonical/json-value.ts";
import type { DecisionEvent } from "../events.ts";
import type { ProposalInput } from "../inputs.ts";
import { mayBeRespelled } from "../normalize/spelling.ts";
import type {
  CompiledPolicy,
  CompiledTool,
  JudgedCommand,
  TestedRule,
} from "../policy/compiled.ts";
import { listFreshKeys, mayHaveFreshKey } from "../policy/fresh-keys.ts";
import type { ENTRY_ORDER } from "../reasons/gate-reasons.ts";
import type { ConversationState } from "../state/state.ts";

export interface ExplainedCall {
  readonly state: ConversationState | undefined;
  readonly proposal: ProposalInput;
  readonly policy: CompiledPolicy;
  readonly tool: CompiledTool;
  /** Of a tool with `commands`: each part of the call with the rule that judges it. */
  readonly commands: readonly JudgedCommand[];
  /** The tiers and rules with a condition, and whether each applies. */
  readonly testedRules: readonly TestedRule[];
  readonly nowMs: number;
  /** The decision with nothing enforced, which carries what the call touches. */
  readonly unenforced: DecisionEvent;
}

export interface ExplainRow {
  /** The path of the rule where nothing fires. */
  readonly rule: (tool: CompiledTool) => string;
  readonly value: (call: ExplainedCall) => string;
}

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
    value: ({ tool, unenforced }) => {
      const schema = tool.validate === null ? "no schema" : "checked against the schema";
      const { text } = unenforced.arguments;
      return `${schema}${keyArgument(tool)}${freshKeys(tool, text)}${respelled(tool, text)}`;
    },
  },
};

function freshKeys({ name, isRead }: CompiledTool, text: string): string {
  if (isRead || text === "" || !mayHaveFreshKey(text)) return "";
  const keys = listFreshKeys(JSON.parse(text), name);
  if (keys.length === 0) return "";
  return `; ${keys.join(", ")} name the try and not what is done, so they make no call another one`;
}

function variant({ variant: name }: CompiledTool): string {
  return name === null ? "" : ` (variant ${name})`;
}

function keyArgument({ idempotencyArgument: key }: CompiledTool): string {
  return key === null ? "" : `; \`${key}\` gets the gate's idempotency key, and is not compared`;
}

/** That the arguments are compared in another spelling than their own, if they are. */
function respelled({ identity }: CompiledTool, text: string): string {
  if (identity.unify == null || text === "" || !mayBeRespelled(text)) return "";
  const args = JSON.parse(text) as JsonObject;
  if (identity.unify(args) === args) return "";
  return "; compared without white space at the ends, invisible characters, and other spellings of one value (`spelling`)";
}
