/** `callgate backtest`: what another policy would decide differently. */
import type { PolicySource } from "../../core/policy/source.ts";
import { openPolicy } from "../../gate/gate-policy.ts";
import {
  EXIT_FINDINGS,
  EXIT_OK,
  EXIT_USAGE,
  type ExitCode,
  usageError,
} from "../../process/exit-error.ts";
import { openSource, type SourceOptions } from "../cluster/open-source.ts";
import type { Style } from "../output/style.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted, printable } from "../output/text.ts";
import { replayPolicy } from "../replay/replay-conversation.ts";
import { backtestFiles } from "./backtest-files.ts";
import { backtestJournal } from "./backtest-journal.ts";
import { type Change, Changes } from "./changes.ts";

export type BacktestOptions = SourceOptions & {
  /** Recordings; empty: read a journal. */
  readonly files: readonly string[];
  readonly policy: readonly string[];
  readonly candidate: readonly string[];
  readonly allowChanges: boolean;
  readonly json: boolean;
};

type Policy = Awaited<ReturnType<typeof openPolicy>>;

/** @throws ExitError, PipelineError: a policy is invalid, or a source cannot be read. */
export async function runBacktest(options: BacktestOptions, terminal: Terminal): Promise<ExitCode> {
  const current = options.policy.length === 0 ? null : await openPolicy(options.policy);
  const candidate = await openPolicy(options.candidate);
  const changes = new Changes();
  const broken = await compare(options, current, candidate, changes, terminal);
  const { totals } = changes;
  const list = changes.list.map((change) => placed(change, candidate, current));
  await terminal.out.write(
    options.json
      ? `${JSON.stringify({ ...totals, brokenLines: broken, changes: list })}\n`
      : render(totals, list, terminal.out.style),
  );
  if (broken > 0) return EXIT_USAGE;
  return totals.changed > 0 && !options.allowChanges ? EXIT_FINDINGS : EXIT_OK;
}

async function compare(
  { files, config, dataDir, dataDirElse }: BacktestOptions,
  current: Policy | null,
  candidate: Policy,
  changes: Changes,
  terminal: Terminal,
): Promise<number> {
  if (files.length > 0) {
    if (config !== undefined || dataDir !== undefined) {
      throw usageError(
        "both recordings and a journal were given: leave out the files, or the journal",
      );
    }
    if (current === null) {
      throw usageError("recordings contain no decisions: give the current policy with --policy");
    }
    const policies = { current: replayPolicy(current), candidate: replayPolicy(candidate) };
    const tell = (message: string) =>
      void terminal.err.write(`callgate: ${message}\n`).catch(() => undefined);
    return await backtestFiles(files, policies, changes, tell);
  }
  const source = await openSource(
    { config, dataDir, ...(dataDirElse === undefined ? {} : { dataDirElse }) },
    terminal,
  );
  try {
    await backtestJournal(source, current?.compiled ?? null, candidate.compiled, changes);
  } finally {
    await source.close();
  }
  return 0;
}

type PlacedChange = Change & { readonly location: string };

/** Adds the line of the rule, in the policy that refuses or holds the call. */
function placed(change: Change, candidate: Policy, current: Policy | null): PlacedChange {
  const policy = change.after === "allowed" ? current : candidate;
  const location = policy === null ? "" : locateRule(policy.loaded.source, change.rule);
  return { ...change, location };
}

function locateRule(source: PolicySource, rule: string): string {
  if (rule === "gate") return "always";
  const at = source.locate(rule);
  return at === null || at.path === "" ? "preset" : `${at.file}:${at.line}:${at.column}`;
}

const CHANGES_SHOWN = 20;
const TEXT_CHARACTERS = 40;
const EXAMPLE_CHARACTERS = 100;

function render(totals: Changes["totals"], changes: readonly PlacedChange[], style: Style): string {
  const { decisions, changed, conversations, conversationsChanged } = totals;
  const head = [
    style.bold(`${changed} of ${counted(decisions, "decision")} changed`),
    `in ${conversationsChanged} of ${counted(conversations, "conversation")}`,
  ].join(", ");
  if (changed === 0) return `${head}\n`;
  const shown = changes.slice(0, CHANGES_SHOWN);
  const rows = shown.map(({ tool, before, after, calls, first, rule, location }) => [
    printable(tool, TEXT_CHARACTERS),
    before,
    after,
    calls,
    first,
    location === "" ? rule : `${rule} (${location})`,
  ]);
  const titles = ["tool", "before", "after", "calls", "first", "rule"];
  const hidden = changes.length - shown.length;
  const more = hidden > 0 ? [`and ${hidden} more kinds of changes (--json lists all)`] : [];
  const examples = shown.flatMap((change) =>
    change.examples
      .slice(0, 1)
      .map(
        ({ location, callId, arguments: text }) =>
          `  ${location}  call ${printable(callId, TEXT_CHARACTERS)}: ${printable(`${change.tool} ${text}`, EXAMPLE_CHARACTERS)}: ${change.before}, now ${change.after}`,
      ),
  );
  const table = textTable(titles, rows, style, [3, 4]);
  return [head, table.trimEnd(), ...more, "examples", ...examples, ""].join("\n");
}
