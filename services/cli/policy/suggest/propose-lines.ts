/** Lines for a policy that recorded calls speak for. */
import { parseCanonical } from "../../../core/canonical/parse-canonical.ts";
import type { CompiledPolicy } from "../../../core/policy/compiled.ts";
import type { PolicyDocument, ToolDocument } from "../../../core/policy/document.ts";
import type { RecordedCall, RecordedConversation } from "../../replay/recording.ts";
import { guessTools } from "../import/guess/guess-tools.ts";
import { parametersOf } from "../import/guess/parameters.ts";
import { isMap, type JsonMap } from "../import/tool-definition.ts";

export type Suggestion = {
  /** The lines, as a policy of their own. */
  readonly lines: {
    readonly budgets?: PolicyDocument["budgets"];
    readonly tool_schemas?: Readonly<Record<string, ToolDocument>>;
  };
  /** What the recordings show, in one sentence. */
  readonly evidence: string;
};

type Policy = { readonly document: PolicyDocument; readonly compiled: CompiledPolicy };

/** Nothing is proposed for what the policy says already. */
export function proposeLines(
  conversations: readonly RecordedConversation[],
  policy: Policy,
): readonly Suggestion[] {
  const open = openTools(conversations, policy);
  const readers = findReads(open);
  const writes = new Set([...open].filter((tool) => !readers.has(tool)));
  return [
    ...proposeReads(conversations, readers),
    ...proposeShared(conversations, writes),
    ...proposeBudgets(conversations, policy.document),
  ];
}

/** Tools of which the policy does not say what they do. */
function openTools(
  conversations: readonly RecordedConversation[],
  { document, compiled }: Policy,
): ReadonlySet<string> {
  const tools = new Set(conversations.flatMap(({ calls }) => calls.map(({ tool }) => tool)));
  return new Set(
    [...tools].filter((tool) => {
      const { read_only, effects, commands, variants, side_effect_resource } =
        document.tool_schemas?.[tool] ?? {};
      const said = [read_only, effects, commands, variants, side_effect_resource];
      return said.every((one) => one === undefined) && !compiled.tool(tool).isRead;
    }),
  );
}

const CALLS_SEEN_MIN = 3;
const CONVERSATIONS_MIN = 2;

type Repeats = { calls: number; same: number; other: number };

/** Tools that read by their name, and whose repeats gave nothing else while nothing was written. */
function proposeReads(
  conversations: readonly RecordedConversation[],
  readers: ReadonlySet<string>,
): readonly Suggestion[] {
  const counted = new Map<string, Repeats>();
  for (const { calls } of conversations) countRepeats(calls, readers, counted);
  return [...counted]
    .filter(([, { calls, other }]) => calls >= CALLS_SEEN_MIN && other === 0)
    .map(([tool, { calls, same }]) => ({
      lines: { tool_schemas: { [tool]: { read_only: true } } },
      evidence: `a read by its name: ${calls} calls, and ${same} of ${same} repeats gave the same`,
    }));
}

/** The tools whose names say that they read. */
function findReads(open: ReadonlySet<string>): ReadonlySet<string> {
  const guesses = guessTools(
    [...open].map((name) => ({
      ...{ name, schema: undefined, description: "", method: null },
      ...{ readOnly: null, risky: false, effects: [] },
    })),
  );
  return new Set([...open].filter((tool) => guesses.get(tool)?.access.isRead === true));
}

function countRepeats(
  calls: readonly RecordedCall[],
  readers: ReadonlySet<string>,
  counted: Map<string, Repeats>,
): void {
  const latest = new Map<string, string>();
  for (const { tool, argumentsText, output, isError } of calls) {
    // Another tool may have written something: what was read before says nothing any more.
    if (!readers.has(tool)) latest.clear();
    if (!readers.has(tool) || output === null || isError) continue;
    const repeats = counted.get(tool) ?? { calls: 0, same: 0, other: 0 };
    counted.set(tool, repeats);
    repeats.calls += 1;
    const key = `${tool}\n${argumentsText}`;
    const before = latest.get(key);
    latest.set(key, output);
    if (before === undefined) continue;
    if (before === output) repeats.same += 1;
    else repeats.other += 1;
  }
}

/** Tools that were called with one id in one conversation change one thing. */
function proposeShared(
  conversations: readonly RecordedConversation[],
  writes: ReadonlySet<string>,
): readonly Suggestion[] {
  const shared = new Map<string, { tools: Map<string, string>; conversations: number }>();
  for (const { calls } of conversations) {
    for (const [stem, tools] of sharedIn(calls, writes)) {
      const one = shared.get(stem) ?? { tools: new Map(), conversations: 0 };
      one.conversations += 1;
      for (const [tool, name] of tools) one.tools.set(tool, name);
      shared.set(stem, one);
    }
  }
  const taken = new Set<string>();
  const proposals: Suggestion[] = [];
  for (const [stem, { tools, conversations: in_ }] of byFrequency(shared)) {
    const own = [...tools].filter(([tool]) => !taken.has(tool));
    if (in_ < CONVERSATIONS_MIN || own.length < 2) continue;
    for (const [tool] of own) taken.add(tool);
    const entries = own.map(([tool, name]): [string, ToolDocument] => [
      tool,
      { effects: [{ resource: `${stem}/{${name}}`, kind: "update", exclusive: false }] },
    ]);
    proposals.push({
      lines: { tool_schemas: Object.fromEntries(entries) },
      evidence: `they change one ${stem} in ${in_} conversations`,
    });
  }
  return proposals;
}

function byFrequency<T extends { readonly conversations: number }>(
  shared: ReadonlyMap<string, T>,
): readonly [string, T][] {
  return [...shared].sort(([, a], [, b]) => b.conversations - a.conversations);
}

/** By what the id is of: the tools that were called with one value of it, with their argument. */
function sharedIn(
  calls: readonly RecordedCall[],
  writes: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const byValue = new Map<string, { stem: string; tools: Map<string, string> }>();
  for (const { tool, argumentsText, isError } of calls) {
    if (!writes.has(tool) || isError) continue;
    for (const { stem, name, value } of idsIn(argumentsText)) {
      const key = `${stem}\n${value}`;
      const one = byValue.get(key) ?? { stem, tools: new Map<string, string>() };
      one.tools.set(tool, name);
      byValue.set(key, one);
    }
  }
  const byStem = new Map<string, Map<string, string>>();
  for (const { stem, tools } of byValue.values()) {
    if (tools.size < 2) continue;
    byStem.set(stem, new Map([...(byStem.get(stem) ?? []), ...tools]));
  }
  return byStem;
}

type ArgumentId = { readonly stem: string; readonly name: string; readonly value: string };

function idsIn(argumentsText: string): readonly ArgumentId[] {
  const args = argumentsOf(argumentsText);
  const properties = Object.fromEntries(
    Object.keys(args).map((name) => [name, { type: "string" }]),
  );
  return parametersOf({ properties }).flatMap(({ name, role, stem }) => {
    const value = args[name];
    const isId = role === "id" && stem !== null && /^[A-Za-z_]\w*$/.test(name);
    return isId && (typeof value === "string" || typeof value === "number")
      ? [{ stem, name, value: String(value) }]
      : [];
  });
}

const ARGUMENT_LIMITS = { maxBytes: 1024 * 1024, maxDepth: 64, maxKeys: 10_000 };

function argumentsOf(text: string): JsonMap {
  if (!parseCanonical(text, ARGUMENT_LIMITS).ok) return {};
  const value: unknown = JSON.parse(text);
  return isMap(value) ? value : {};
}

const TURNS_MIN = 20;
const QUANTILE = 0.99;
const HEADROOM = 1.5;
const CALLS_MIN = 10;

/** Half more calls than 99 of 100 turns needed. */
function proposeBudgets(
  conversations: readonly RecordedConversation[],
  { budgets }: PolicyDocument,
): readonly Suggestion[] {
  if (budgets?.max_tool_calls !== undefined) return [];
  const counts = conversations.flatMap(({ calls }) => callsByTurn(calls)).sort((a, b) => a - b);
  if (counts.length < TURNS_MIN) return [];
  const quantile = counts[Math.ceil(counts.length * QUANTILE) - 1] ?? 0;
  const most = Math.max(CALLS_MIN, Math.ceil(quantile * HEADROOM));
  return [
    {
      lines: { budgets: { max_tool_calls: most } },
      evidence: `99 of 100 turns have at most ${quantile} calls, of ${counts.length} turns`,
    },
  ];
}

function callsByTurn(calls: readonly RecordedCall[]): readonly number[] {
  const byTurn = new Map<string | null, number>();
  for (const { turn } of calls) byTurn.set(turn, (byTurn.get(turn) ?? 0) + 1);
  return [...byTurn.values()];
}
