import { type Command, InvalidArgumentError } from "commander";
import { GIVEN_CALLS_MAX } from "../../core/inputs.ts";
import {
  addConfigOption,
  addDataDirOption,
  addJsonOption,
  addPolicyOption,
  type Cli,
  choiceOption,
  DATA_DIR_ELSE,
} from "./cli.ts";

interface LogOptions {
  readonly config?: string;
  readonly dataDir?: string;
  readonly json?: true;
}

interface SaidOptions extends LogOptions {
  readonly by?: string;
  readonly reason?: string;
}

interface GrantOptions extends SaidOptions {
  readonly tier?: string;
  readonly tool?: string;
  readonly calls?: number | "any";
  readonly for?: number;
}

interface AnswerOptions extends GrantOptions {
  readonly call?: string;
  readonly action?: string;
  readonly rule?: string;
}

const OUTCOMES = ["succeeded", "failed", "not_executed"] as const;

export function addApprovals(program: Command, cli: Cli): void {
  const approvals = program
    .command("approvals")
    .description("see and answer calls that wait for a person, also while a gate is running");
  const list = approvals.command("list").description("calls that wait");
  addLog(list).action(async (options: LogOptions) => {
    const { listApprovals } = await import("../approvals/list-approvals.ts");
    cli.end(await listApprovals(sourceOf(options), options.json === true, cli.terminal));
  });
  const show = approvals
    .command("show")
    .description(
      "one of them: arguments, what differs from earlier calls, the rule, who may approve",
    )
    .argument("<approval>", "its id, or enough of the beginning (see: approvals list)");
  addLog(addPolicyOption(show, "optional")).action(
    async (id: string, options: LogOptions & { readonly policy?: readonly string[] }) => {
      const { showApproval } = await import("../approvals/show-approval.ts");
      const { policy, json } = options;
      const asked = { ...sourceOf(options), id, policy: policy ?? [], json: json === true };
      cli.end(await showApproval(asked, cli.terminal));
    },
  );
  addVerdict(approvals, "approve", "let a held call run, after it was checked again", cli);
  addVerdict(approvals, "deny", "refuse a held call for good", cli);
  addVerdict(approvals, "cancel", "take a held call back: nobody needs it any more", cli);
  addRuling(approvals, "grant", "let a tier or a tool be called in a conversation", cli);
  addRuling(approvals, "revoke", "take such a grant back", cli);
}

export function addConversations(program: Command, cli: Cli): void {
  const conversations = program
    .command("conversations")
    .description("end and reopen conversations");
  addRuling(
    conversations,
    "reopen",
    "let calls of a conversation that was ended be decided again",
    cli,
  );
  addRuling(conversations, "end", "refuse all further calls of a conversation", cli);
}

export function addCalls(program: Command, cli: Cli): void {
  const calls = program.command("calls").description("tell what became of calls");
  const command = calls
    .command("reconcile")
    .description("tell the outcome of a call that nobody knows")
    .argument("<decision>", "id of the decision that allowed it, or enough of the beginning")
    .addOption(
      choiceOption("--outcome <outcome>", "what became of it", OUTCOMES).makeOptionMandatory(),
    );
  type Options = SaidOptions & { readonly outcome: (typeof OUTCOMES)[number] };
  addLog(addSaid(command)).action(async (decision: string, options: Options) => {
    const { reconcileCall } = await import("../conversations/rule.ts");
    const { outcome } = options;
    cli.end(await reconcileCall({ ...saidOf(options), decision, outcome }, cli.terminal));
  });
}

function addVerdict(
  approvals: Command,
  kind: "approve" | "deny" | "cancel",
  description: string,
  cli: Cli,
): void {
  const command = approvals
    .command(kind)
    .description(description)
    .argument("<approval>", "its id, or enough of the beginning (see: approvals list)");
  if (kind === "approve") {
    command
      .option(
        "--calls <number>",
        "and so many further calls of the tool in the conversation, or any",
        callCount,
      )
      .option("--for <time>", "and further calls for so long: 30min, 2h", duration);
  }
  command
    .option("--call <id>", "only of this call: what was looked at (see: approvals show)")
    .option("--action <digest>", "only of this action, or the beginning of its digest")
    .option("--rule <digest>", "only under this rule, or the beginning of its digest");
  addLog(addSaid(command)).action(async (id: string, options: AnswerOptions) => {
    const { giveVerdict } = await import("../approvals/give-verdict.ts");
    const { call = null, action = null, rule = null } = options;
    const about = { callId: call, actionKey: action, ruleDigest: rule };
    const more = { calls: options.calls, forMs: options.for, about };
    cli.end(await giveVerdict({ ...saidOf(options), ...more, kind, id }, cli.terminal));
  });
}

function addRuling(
  parent: Command,
  name: "grant" | "revoke" | "reopen" | "end",
  description: string,
  cli: Cli,
): void {
  const command = parent
    .command(name)
    .description(description)
    .argument("<conversation>", "its id, or tenant/conversation");
  if (name === "grant" || name === "revoke") {
    command.option("--tier <name>", "a tier of the policy").option("--tool <name>", "a tool");
  }
  if (name === "grant") {
    command
      .option("--calls <number>", "how many calls, or any; default 1", callCount)
      .option("--for <time>", "for how long: 30min, 2h; default: as long as it lasts", duration);
  }
  addLog(addSaid(command)).action(async (conversation: string, options: GrantOptions) => {
    const { giveRuling } = await import("../conversations/rule.ts");
    const { tier, tool, calls } = options;
    const kind = name === "reopen" ? "resume" : name;
    const ruling = { kind, conversation, tier, tool, calls, forMs: options.for } as const;
    cli.end(await giveRuling({ ...saidOf(options), ...ruling }, cli.terminal));
  });
}

function addSaid(command: Command): Command {
  return command
    .option("--by <name>", "who says so; default: the user of this process")
    .option("--reason <text>", "why");
}

function addLog(command: Command): Command {
  return addJsonOption(addDataDirOption(addConfigOption(command)));
}

function sourceOf({ config, dataDir }: LogOptions) {
  return { config, dataDir, dataDirElse: DATA_DIR_ELSE } as const;
}

function saidOf(options: SaidOptions) {
  const { by, reason, json } = options;
  return { ...sourceOf(options), by, reason, json: json === true };
}

function callCount(text: string): number | "any" {
  const number = Number(text);
  if (text === "any") return text;
  if (Number.isInteger(number) && number > 0 && number <= GIVEN_CALLS_MAX) return number;
  throw new InvalidArgumentError(`it must be a whole number from 1 to ${GIVEN_CALLS_MAX}, or any`);
}

const UNIT_MS = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function duration(text: string): number {
  const [, number, unit] = /^([1-9][0-9]{0,6})(s|min|h|d)$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError("write it as 30s, 5min, 2h or 1d");
  return Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
