/** Turns a policy document into the form that decides, or says everything that is wrong with it. */
import { DEFAULT_CANONICAL_LIMITS } from "../canonical/limits.ts";
import type { Capabilities } from "../capabilities.ts";
import { LIMITS } from "../limits.ts";
import type { CompileProblem } from "./compile-identity.ts";
import { policyModes } from "./compile-modes.ts";
import { compileReaders } from "./compile-readers.ts";
import { compileTiers } from "./compile-tiers.ts";
import { compileTool, type ToolContext } from "./compile-tool.ts";
import type { BudgetLimit, CompiledPolicy, CompiledTool, Ladder } from "./compiled.ts";
import type { BudgetLimits, PolicyDocument, Threshold } from "./document.ts";
import { windowsOf } from "./windows.ts";

export type CompileResult =
  | { readonly ok: true; readonly policy: CompiledPolicy }
  | { readonly ok: false; readonly problems: readonly CompileProblem[] };

export interface CompileOptions {
  /** `sha256:…` of the document's canonical form. */
  readonly revision: string;
  readonly keyId: string;
}

const MAX_AGE_MS = 7 * 86_400_000;
const IDLE_MS = 86_400_000;
const IDEMPOTENCY_TTL_MS = 86_400_000;

/** Tools that no entry names are compiled when first seen; so many of them are kept. */
const REMEMBERED_TOOLS = 10_000;

/** Pure: the same document and capabilities give a policy that decides the same. */
export function compilePolicy(
  document: PolicyDocument,
  capabilities: Capabilities,
  options: CompileOptions,
): CompileResult {
  const problems: CompileProblem[] = [];
  const conversation = {
    maxAgeMs: document.conversation?.max_age_ms ?? MAX_AGE_MS,
    idleMs: document.conversation?.idle_ms ?? IDLE_MS,
  };
  const tiers = compileTiers(document);
  const declaredTools = Object.keys(document.tool_schemas ?? {});
  const context: ToolContext = {
    document,
    modes: policyModes(document),
    tiers,
    windows: windowsOf(document, conversation.maxAgeMs),
    declaresNothing:
      declaredTools.length === 0 && (document.authorization?.tiers ?? []).length === 0,
    capabilities,
  };
  const compiled = new Map<string, CompiledTool>();
  for (const name of declaredTools) compiled.set(name, compileTool(name, context, problems));
  const tools = [...compiled.values()];
  const windows = [context.windows, ...tools].flatMap(({ windowMs, cacheMs }) => [
    windowMs,
    cacheMs,
  ]);
  checkLifetimes(context, tools, conversation, problems);
  checkUnknownTier(document, problems);
  if (problems.length > 0) return { ok: false, problems };
  const tool = rememberingTools(compiled, context);
  return {
    ok: true,
    policy: {
      ...settingsOf(document),
      revision: options.revision,
      keyId: options.keyId,
      conversation,
      tool,
      readersOf: compileReaders(document, tool),
      declaredTools,
      longestWindowMs: windows.reduce((longest, ms) => Math.max(longest, ms), 0),
      longestHoldMs: tiers.longestHoldMs,
    },
  };
}

/** What the document says of the policy as a whole, with the preset's defaults. */
function settingsOf(document: PolicyDocument) {
  const { limits, idempotency, budgets, tool_deduplication: byTurn } = document;
  return {
    canonicalLimits: {
      ...DEFAULT_CANONICAL_LIMITS,
      maxBytes: limits?.arguments_bytes ?? DEFAULT_CANONICAL_LIMITS.maxBytes,
    },
    outputBytes: limits?.output_bytes ?? LIMITS.outputBytesDefault,
    ringSize: limits?.ring ?? document.deduplication?.max_history ?? LIMITS.ringDefault,
    ladder: ladderOf(document),
    acknowledgement: acknowledgementOf(document),
    idempotencyTtlMs: idempotency?.ttl_ms ?? IDEMPOTENCY_TTL_MS,
    idempotencyHeader: idempotency?.header ?? "X-Agent-Idempotency-Key",
    budgets: {
      turn: limitOf(budgets),
      conversation: limitOf(budgets?.per_conversation),
      tool: limitOf(budgets?.per_tool),
    },
    loops: loopsOf(document),
    appendNote: byTurn?.append_system_note ?? false,
    answersFromRepeat: byTurn?.exact_duplicate_threshold ?? 1,
    unknownTools: (document.unknown_tools ?? "deny") === "deny" ? "deny" : "tier",
  } as const;
}

function rememberingTools(
  declared: ReadonlyMap<string, CompiledTool>,
  context: ToolContext,
): (name: string) => CompiledTool {
  let others = new Map<string, CompiledTool>();
  return (name) => {
    const known = declared.get(name) ?? others.get(name);
    if (known !== undefined) return known;
    const tool = compileTool(name, context, []);
    if (others.size >= REMEMBERED_TOOLS) others = new Map();
    others.set(name, tool);
    return tool;
  };
}

function limitOf(limits: BudgetLimits | undefined): BudgetLimit {
  return { maxSteps: limits?.max_steps ?? null, maxCalls: limits?.max_tool_calls ?? null };
}

function threshold(value: Threshold | undefined, preset: number | null): number | null {
  if (value === undefined) return preset;
  return value === "off" ? null : value;
}

function ladderOf(document: PolicyDocument): Ladder {
  const observed = document.preset === "observe";
  const strict = document.preset === "strict";
  const written = document.escalation;
  const [ask, options, userInput] = observed ? [null, null, null] : [1, 2, strict ? 3 : 4];
  const endAt = threshold(written?.end?.at, strict ? 4 : null);
  return {
    ask: threshold(written?.ask, ask),
    options: threshold(written?.options, options),
    userInput: threshold(written?.user_input, userInput),
    end: endAt === null ? null : { at: endAt, lasts: written?.end?.lasts ?? "turn" },
  };
}

function acknowledgementOf(document: PolicyDocument): "off" | "implicit" {
  const preset = document.preset === "observe" ? "off" : "implicit";
  return (document.acknowledgement?.mode ?? preset) === "off" ? "off" : "implicit";
}

function loopsOf(document: PolicyDocument): CompiledPolicy["loops"] {
  const repeat = document.deduplication?.loop_threshold;
  const streak = document.loops?.failure_streak;
  return {
    sameOutput: threshold(repeat?.same_output, 3),
    anyOutput: threshold(repeat?.any_output, null),
    cycleRounds: document.loops?.cycle_rounds ?? 3,
    failureSame: streak?.same ?? 3,
    failureTransient: streak?.transient ?? 5,
  };
}

/** A conversation outlives every window and hold, or it would forget what it must refuse. */
function checkLifetimes(
  { document, tiers, windows }: ToolContext,
  tools: readonly CompiledTool[],
  { idleMs, maxAgeMs }: CompiledPolicy["conversation"],
  problems: CompileProblem[],
): void {
  const key = maxAgeMs < idleMs ? "max_age_ms" : "idle_ms";
  const livesMs = Math.min(maxAgeMs, idleMs);
  const path = `conversation.${key}`;
  // `tool_deduplication` remembers for a turn, which ends with the conversation at the latest.
  const timed = document.tool_deduplication === undefined ? [windows, ...tools] : [];
  const longest = timed.reduce((ms, tool) => Math.max(ms, tool.windowMs, tool.cacheMs), 0);
  const until = key === "idle_ms" ? "without a call" : "after its first call";
  if (longest > livesMs) {
    problems.push({
      path,
      message: `a conversation is forgotten ${livesMs} ms ${until}, before the longest window (${longest} ms) ends; raise ${key} or shorten the window`,
    });
  }
  if (tiers.longestHoldMs > livesMs) {
    problems.push({
      path,
      message: `a hold may wait ${tiers.longestHoldMs} ms, longer than a conversation is remembered (${livesMs} ms ${until}); raise ${key} or shorten expires_ms`,
    });
  }
}

function checkUnknownTier(document: PolicyDocument, problems: CompileProblem[]): void {
  const setting = document.unknown_tools;
  if (setting === undefined || ["deny", "hitl", "allow"].includes(setting)) return;
  const names = (document.authorization?.tiers ?? []).map((tier) => tier.name);
  if (names.includes(setting)) return;
  problems.push({
    path: "unknown_tools",
    message: `\`${setting}\` is none of deny, hitl, allow and no tier of this policy has that name`,
  });
}
