/** Parses the arguments of a call: what is wrong with them, its identity, and what it touches. */
import type { JsonObject } from "../canonical/json-value.ts";
import type { SchemaProblem } from "../capabilities.ts";
import type { CountedBudget, Sketch } from "../events.ts";
import type { ClearArguments } from "../inputs.ts";
import { mayBeRespelled } from "../normalize/spelling.ts";
import type { CompiledPolicy, CompiledTool, SealArguments } from "../policy/compiled.ts";
import { mayHaveFreshKey } from "../policy/fresh-keys.ts";
import { inWayOfKey, withKey, withoutKey } from "../policy/key-argument.ts";
import { identitySeal, redactProblems } from "../seal/seal-arguments.ts";
import type { ConversationState } from "../state/state.ts";
import type { DecisionDraft } from "./draft-decision.ts";
import { NO_SKETCHES, sketchesOf, type Touched, touchedBy, UNDECLARED } from "./facts.ts";
import type { LazyArguments } from "./lazy-arguments.ts";

const NONE: readonly never[] = [];

export interface ParsedArguments {
  readonly identityText: string;
  readonly touched: Touched;
  readonly sketches: readonly Sketch[];
  /** The budgets with a name that count the call; the caller fills them in. */
  readonly budgets: readonly CountedBudget[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

const NOTHING_READ: Omit<ParsedArguments, "identityText"> = {
  touched: UNDECLARED,
  sketches: NO_SKETCHES,
  budgets: NONE,
  problems: NONE,
};

/** Nothing has parsed the arguments: all of them are the call's identity. */
export function unreadArguments(draft: DecisionDraft): ParsedArguments {
  return { ...NOTHING_READ, identityText: draft.arguments.text };
}

/** Lists every problem of the arguments. Where `invalid_arguments` is not enforced, all of them are the identity. */
export function parseArguments(
  tool: CompiledTool,
  lazyArguments: LazyArguments,
  text: string,
  { graph }: CompiledPolicy,
  state: ConversationState | undefined,
  sealed?: SealArguments,
): ParsedArguments {
  if (sealed === undefined && !looksInside(tool) && isComparedAsItIs(tool, text)) {
    return { ...NOTHING_READ, identityText: text };
  }
  const args = lazyArguments.value;
  const invalid = findSchemaProblems(tool, args);
  const identity = tool.identity(args, text, sealed);
  if (!identity.ok) {
    const problems = [...invalid, ...identity.problems];
    return { ...NOTHING_READ, identityText: text, problems };
  }
  const touched = touchedBy(tool, identity, graph, state);
  const problems =
    touched.unnamed.length === 0 ? invalid : [...invalid, ...differentProblems(touched.unnamed)];
  const sketches = sketchesOf(tool, identity);
  return { identityText: identity.text, touched, sketches, budgets: NONE, problems };
}

/** As long as a key of the gate, and of the same letters. */
const SAMPLE_KEY = "k".repeat(43);

/**
 * The key argument is the gate's to fill in: a call is valid as it was sent, without the argument, or with a key in it.
 */
function findSchemaProblems(
  { validate, idempotencyArgument: path }: CompiledTool,
  args: JsonObject,
): readonly SchemaProblem[] {
  if (validate === null) return NONE;
  const problems = validate(args);
  if (problems.length === 0 || path === null) return problems;
  if (inWayOfKey(args, path) !== null) return problems;
  const isFilledIn =
    validate(withoutKey(args, path)).length === 0 ||
    validate(withKey(args, path, SAMPLE_KEY)).length === 0;
  return isFilledIn ? NONE : problems;
}

/** Whether the text has neither fresh keys nor spellings that a write is compared without. */
function isComparedAsItIs({ isRead, identity }: CompiledTool, text: string): boolean {
  if (isRead) return true;
  return !mayHaveFreshKey(text) && (identity.unify == null || !mayBeRespelled(text));
}

/** Whether the policy reads any of the tool's arguments: otherwise their text alone counts. */
function looksInside({ validate, identity, effects, reads, similarity }: CompiledTool): boolean {
  if (validate !== null || identity.isWhole !== true) return true;
  return effects.length > 0 || reads !== null || similarity.length > 0;
}

/** Several effects may need one argument. */
function differentProblems(problems: ParsedArguments["problems"]): ParsedArguments["problems"] {
  return [...new Map(problems.map((problem) => [problem.path, problem])).values()];
}

/** The same for sensitive arguments: no problem reveals a value. */
export function parseSealedArguments(
  tool: CompiledTool,
  clear: ClearArguments,
  draft: DecisionDraft,
  policy: CompiledPolicy,
  state: ConversationState | undefined,
): ParsedArguments {
  const { text } = clear;
  const sealed = identitySeal(clear, draft.tenantId, policy);
  const read = parseArguments(tool, clear, text, policy, state, sealed);
  const problems = redactProblems(read.problems, clear);
  // Where the arguments have no identity, the identity is all of them, as they are journaled.
  const identityText = read.identityText === text ? draft.arguments.text : read.identityText;
  return { ...read, identityText, problems };
}
