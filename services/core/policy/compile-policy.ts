/** Compiles a policy document, or lists everything that is wrong with it. */
import type { Capabilities } from "../capabilities.ts";
import { createSealing, type Sealing } from "../seal/sealing.ts";
import { likenessOf } from "../tool-name.ts";
import { checkAliases } from "./compile-aliases.ts";
import { compileBudgets } from "./compile-budgets.ts";
import type { CompileProblem } from "./compile-identity.ts";
import { compileKill } from "./compile-kill.ts";
import { policyModes } from "./compile-modes.ts";
import { compileReaders } from "./compile-readers.ts";
import { compileSettings } from "./compile-settings.ts";
import { compileSpelling } from "./compile-spelling.ts";
import { compileTiers, declaresNothing, stricter } from "./compile-tiers.ts";
import { compileTool, type ToolContext } from "./compile-tool.ts";
import type { CompiledPolicy, CompiledTool } from "./compiled.ts";
import type { PolicyDocument } from "./document.ts";
import { compileGraph } from "./resource-graph.ts";
import { remembersTurns, windowsOf } from "./windows.ts";

export type CompileResult =
  | { readonly ok: true; readonly policy: CompiledPolicy }
  | { readonly ok: false; readonly problems: readonly CompileProblem[] };

export interface CompileOptions {
  /** `sha256:…` of the document's canonical form. */
  readonly revision: string;
  readonly keyId: string;
  /**
   * Default: a sealing without a secret, under which a call with sensitive arguments is not
   * decided.
   */
  readonly sealing?: Sealing;
}

const MAX_AGE_MS = 7 * 86_400_000;
const IDLE_MS = 86_400_000;

/**
 * The number of compiled tools to retain among those that no entry names; each is compiled when it
 * is first seen.
 */
const REMEMBERED_TOOLS = 10_000;

const EDGES_AND_TENANT: CompileProblem = {
  path: "edges",
  message:
    "`edges` do not go with `scope: tenant`: across conversations effects on the same resource alone are compared. Leave out `edges`, or `scope: tenant`",
};

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
  const budgets = compileBudgets(document, capabilities, problems);
  const budgetNames = new Set(budgets.all.map(({ name }) => name));
  const tiers = compileTiers(document, { capabilities, budgets: budgetNames }, problems);
  const declaredTools = Object.keys(document.tool_schemas ?? {});
  const unifyValue = compileSpelling(document, capabilities);
  const context: ToolContext = {
    document,
    unifiesSpelling: unifyValue !== null,
    modes: policyModes(document),
    tiers,
    windows: windowsOf(document, conversation.maxAgeMs),
    declaresNothing: declaresNothing(document),
    capabilities,
    budgets: budgetNames,
    budgetsOf: budgets.ofTool,
    branch: null,
  };
  const settings = compileSettings(document, capabilities, problems);
  const periods = new Map(budgets.all.map(({ name, per }) => [name, per]));
  const graph = compileGraph(document.edges, problems);
  const compiled = new Map<string, CompiledTool>();
  for (const name of declaredTools) compiled.set(name, compileTool(name, context, problems));
  const tools = [...compiled.values()].flatMap((tool) => [tool, ...tool.variants]);
  const windows = [context.windows, ...tools].flatMap(({ windowMs, cacheMs }) => [
    windowMs,
    cacheMs,
  ]);
  checkLifetimes(context, tools, conversation, problems);
  checkUnknownTier(document, problems);
  checkAliases(document, problems);
  const scopesToTenant = tools.some(({ effects }) => effects.some((one) => one.tenantWide));
  if (scopesToTenant && graph.hasEdges) problems.push(EDGES_AND_TENANT);
  if (problems.length > 0) return { ok: false, problems };
  const tool = rememberingTools(compiled, context);
  return {
    ok: true,
    policy: {
      ...settings,
      budgets: { ...settings.budgets, periods },
      revision: options.revision,
      keyId: options.keyId,
      sealing: options.sealing ?? createSealing(options.keyId, new Map()),
      hidesArguments: tools.some(({ sensitive }) => sensitive.length > 0),
      scopesToTenant,
      conversation,
      tool,
      killedBy: compileKill(document.kill),
      graph,
      unifyValue,
      readersOf: compileReaders(document, tool),
      declaredTools,
      findTier: tiers.findByName,
      longestWindowMs: windows.reduce((longest, ms) => Math.max(longest, ms), 0),
      longestHoldMs: tiers.longestHoldMs,
    },
  };
}

function rememberingTools(
  declared: ReadonlyMap<string, CompiledTool>,
  context: ToolContext,
): (name: string) => CompiledTool {
  let others = new Map<string, CompiledTool>();
  const byLikeness = new Map([...declared].map(([name, tool]) => [likenessOf(name), tool]));
  return (name) => {
    const cached = declared.get(name) ?? others.get(name);
    if (cached !== undefined) return cached;
    const compiled = compileTool(name, context, []);
    const like = byLikeness.get(likenessOf(name));
    const tool = like === undefined ? compiled : lookAlike(compiled, like);
    if (others.size >= REMEMBERED_TOOLS) others = new Map();
    others.set(name, tool);
    return tool;
  };
}

/**
 * A name that looks like a declared tool is judged at least as strictly as that tool, whatever else
 * would declare the name, where `unknown_tool` does not enforce.
 */
function lookAlike(tool: CompiledTool, like: CompiledTool): CompiledTool {
  const { variantOf } = tool;
  return {
    ...tool,
    variantOf:
      variantOf === null ? null : (args, spending) => lookAlike(variantOf(args, spending), like),
    isDeclared: false,
    likeTool: like.name,
    tier: stricter(tool.tier, like.tier),
  };
}

/** A conversation must outlive every window and hold, or it would forget what it must refuse. */
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
  const timed = remembersTurns(document) ? [] : [windows, ...tools];
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
