import { type Command, InvalidArgumentError } from "commander";
import { MANUAL_GRANT_CALLS_MAX } from "../../core/inputs.ts";
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
    .description("list and answer held calls, also while a gate runs");
  const list = approvals.command("list").description("list the calls that wait");
  addLog(list).action(async (options: LogOptions) => {
    const { listApprovals } = await import("../approvals/list-approvals.ts");
    cli.end(await listApprovals(sourceOf(options), options.json === true, cli.terminal));
  });
  const show = approvals
    .command("show")
    .description("show a held call: arguments, differences from earlier calls, rule, approvers")
    .argument("<approval>", "id, or a unique prefix of it (see: approvals list)");
  addLog(addPolicyOption(show, "optional")).action(
    async (id: string, options: LogOptions & { readonly policy?: readonly string[] }) => {
      const { showApproval } = await import("../approvals/show-approval.ts");
      const { policy, json } = options;
      const asked = { ...sourceOf(options), id, policy: policy ?? [], json: json === true };
      cli.end(await showApproval(asked, cli.terminal));
    },
  );
  addVerdict(approvals, "approve", "approve a held call; the gate checks it again first", cli);
  addVerdict(approvals, "deny", "refuse a held call for good", cli);
  addVerdict(approvals, "cancel", "withdraw a held call that nobody needs any more", cli);
  addRuling(approvals, "grant", "grant a conversation calls of a tier or a tool", cli);
  addRuling(approvals, "revoke", "revoke a grant", cli);
}

export function addConversations(program: Command, cli: Cli): void {
  const conversations = program
    .command("conversations")
    .description("end and reopen conversations");
  addRuling(conversations, "reopen", "decide calls of an ended conversation again", cli);
  addRuling(conversations, "end", "refuse all further calls of a conversation", cli);
}

export function addCalls(program: Command, cli: Cli): void {
  const calls = program.command("calls").description("settle calls whose outcome is unknown");
  const command = calls
    .command("reconcile")
    .description(
      "report how a call ended whose outcome is unknown, or that failed and may have taken effect",
    )
    .argument("<decision>", "id of the decision that allowed it, or a unique prefix")
    .addOption(choiceOption("--outcome <outcome>", "the outcome", OUTCOMES).makeOptionMandatory());
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
    .argument("<approval>", "id, or a unique prefix of it (see: approvals list)");
  if (kind === "approve") {
    command
      .option(
        "--calls <number>",
        "further calls of the same rule to approve: a number, or any",
        callCount,
      )
      .option("--for <time>", "how long further calls are approved: 30min, 2h", duration);
  }
  command
    .option("--call <id>", "answer only if the call id is this one (see: approvals show)")
    .option("--action <digest>", "answer only if the action digest begins with this")
    .option("--rule <digest>", "answer only if the rule digest begins with this");
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
    .argument("<conversation>", "conversation id, or tenant/conversation");
  if (name === "grant" || name === "revoke") {
    command.option("--tier <name>", "a tier of the policy").option("--tool <name>", "a tool");
  }
  if (name === "grant") {
    command
      .option("--calls <number>", "how many calls, or any; default 1", callCount)
      .option(
        "--for <time>",
        "for how long: 30min, 2h; default: until the conversation ends",
        duration,
      );
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
    .option("--by <name>", "the approver's name; default: the user of this process")
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
  if (Number.isInteger(number) && number > 0 && number <= MANUAL_GRANT_CALLS_MAX) return number;
  throw new InvalidArgumentError(
    `it must be a whole number from 1 to ${MANUAL_GRANT_CALLS_MAX}, or any`,
  );
}

const UNIT_MS = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function duration(text: string): number {
  const [, number, unit] = /^([1-9][0-9]{0,6})(s|min|h|d)$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError("write it as 30s, 5min, 2h or 1d");
  return Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
