/** `callgate policy suggest`: lines for a policy that recorded calls speak for. */
import { loadPolicy } from "../../adapters/policy/load.ts";
import { type EntryComment, writeYaml } from "../../adapters/policy/write-yaml.ts";
import { formatProblem } from "../../core/policy/problem.ts";
import { capabilities } from "../../gate/capabilities.ts";
import { compileGatePolicy, type GatePolicy, readPolicyFile } from "../../gate/gate-policy.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { compareConversation } from "../backtest/backtest-files.ts";
import { Changes } from "../backtest/changes.ts";
import { openResult, refuseExisting } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted, printable } from "../output/text.ts";
import type { RecordedConversation } from "../replay/recording.ts";
import { type ReplayPolicy, replayPolicy } from "../replay/replay-conversation.ts";
import { observeCalls } from "./suggest/observe-calls.ts";
import { proposeLines, type Suggestion } from "./suggest/propose-lines.ts";

export type SuggestOptions = {
  /** Recordings, and data directories of embedded gates. */
  readonly from: readonly string[];
  /** What is in force; empty: every tool that was called is declared, and nothing else said. */
  readonly policy: readonly string[];
  /** Must not exist yet. */
  readonly out: string | undefined;
  readonly json: boolean;
};

type File = { readonly name: string; readonly text: string };

type Measured = Suggestion & {
  /** What the lines change on the recordings, in words. */
  readonly change: string;
};

export async function runSuggest(options: SuggestOptions, terminal: Terminal): Promise<ExitCode> {
  refuseExisting(options.out);
  const conversations = await observeCalls(options.from, terminal);
  const files = await filesOf(options.policy, conversations);
  const current = compiledOf(files);
  const before = replayPolicy(current);
  const suggestions = proposeLines(conversations, current).map((suggestion): Measured => {
    const text = writeYaml(suggestion.lines);
    const after = replayPolicy(compiledOf([...files, { name: "suggestion", text }]));
    return { ...suggestion, change: describeChange(conversations, before, after) };
  });
  const text = options.json
    ? `${JSON.stringify({ conversations: conversations.length, suggestions })}\n`
    : render(suggestions, conversations.length);
  const result = await openResult(terminal, options.out);
  try {
    await result.write(text);
  } finally {
    await result.close();
  }
  return EXIT_OK;
}

async function filesOf(
  paths: readonly string[],
  conversations: readonly RecordedConversation[],
): Promise<readonly File[]> {
  if (paths.length > 0) return await Promise.all(paths.map(readPolicyFile));
  const tools = new Set(conversations.flatMap(({ calls }) => calls.map(({ tool }) => tool)));
  const entries = Object.fromEntries([...tools].map((tool) => [tool, {}]));
  return [{ name: "tools of the recordings", text: writeYaml({ tool_schemas: entries }) }];
}

/** @throws ExitError: the policy is invalid. */
function compiledOf(files: readonly File[]): GatePolicy {
  const result = compileGatePolicy(loadPolicy(files), capabilities);
  if (!result.ok) throw usageError(result.problems.map(formatProblem));
  return result.policy;
}

const KINDS_SHOWN = 4;
const TOOL_CHARACTERS = 60;

function describeChange(
  conversations: readonly RecordedConversation[],
  current: ReplayPolicy,
  candidate: ReplayPolicy,
): string {
  const changes = new Changes();
  for (const conversation of conversations) {
    compareConversation(conversation, { current, candidate }, changes, conversation.id);
  }
  const { changed, conversationsChanged } = changes.totals;
  if (changed === 0) return "no call is decided otherwise";
  const kinds = changes.list.slice(0, KINDS_SHOWN).map(({ tool, before, after, calls }) => {
    return `${calls} × ${printable(tool, TOOL_CHARACTERS)} ${before} → ${after}`;
  });
  return `${counted(changed, "call")} in ${counted(conversationsChanged, "conversation")} otherwise: ${kinds.join(", ")}`;
}

function render(suggestions: readonly Measured[], conversations: number): string {
  const head = [
    `Suggestions from ${counted(conversations, "conversation")}. Each says what the recordings show, and`,
    "what the lines change on them. Add what is right to your policy.",
  ];
  if (suggestions.length === 0) return `# ${head[0]}\n# Nothing is suggested.\n{}\n`;
  const comments = suggestions.flatMap(({ lines, evidence, change }): EntryComment[] => {
    const said = [evidence, `on the recordings: ${change}`];
    const tools = Object.keys(lines.tool_schemas ?? {});
    return tools.length === 0
      ? [{ at: ["budgets"], lines: said }]
      : tools.map((tool) => ({ at: ["tool_schemas", tool], lines: said }));
  });
  const budgets = suggestions.map(({ lines }) => lines.budgets).find((one) => one !== undefined);
  const tools = Object.assign({}, ...suggestions.map(({ lines }) => lines.tool_schemas ?? {}));
  const all = {
    ...(budgets === undefined ? {} : { budgets }),
    ...(Object.keys(tools).length === 0 ? {} : { tool_schemas: tools }),
  };
  return writeYaml(all, head, comments);
}
