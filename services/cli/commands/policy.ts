import { Argument, type Command } from "commander";
import type { DefaultAction, ImportFormat } from "../policy/import/import-tools.ts";
import type { LintTarget } from "../policy/run-lint.ts";
import { addJsonOption, addPolicyOption, type Cli, choiceOption } from "./cli.ts";

const FORMATS = [
  "tools",
  "mcp",
  "openai",
  "anthropic",
  "openapi",
] as const satisfies readonly ImportFormat[];

const LINT_TARGETS = ["kafka"] as const satisfies readonly LintTarget[];

const DEFAULT_ACTIONS = ["allow", "ask", "deny"] as const satisfies readonly DefaultAction[];

interface ImportOptions {
  readonly format: ImportFormat;
  readonly default: DefaultAction;
  readonly out?: string;
  readonly trusted?: true;
  readonly json?: true;
}

interface LintOptions {
  readonly for?: LintTarget;
  readonly policy?: readonly string[];
  readonly json?: true;
}

interface ExplainOptions {
  readonly policy: readonly string[];
  readonly call?: string;
  readonly conversation?: string;
  readonly json?: true;
}

export function addPolicy(program: Command, cli: Cli): void {
  const policy = program.command("policy").description("write, check and explain policies");
  addImport(policy, cli);
  addLint(policy, cli);
  addExplain(policy, cli);
  addPolicyTest(policy, cli);
  addNew(policy, cli);
  addFormat(policy, cli);
  addGraph(policy, cli);
}

const TEMPLATES = ["support-agent", "coding-agent", "payments", "mcp-server"] as const;

function addNew(policy: Command, cli: Cli): void {
  policy
    .command("new")
    .description("write a policy template")
    .addArgument(new Argument("<template>", "what it is for").choices(TEMPLATES))
    .option("-o, --out <file>", "write to a new file")
    .action(async (template: (typeof TEMPLATES)[number], { out }: { readonly out?: string }) => {
      const { runNew } = await import("../policy/run-new.ts");
      cli.end(await runNew(template, out, cli.terminal));
    });
}

function addFormat(policy: Command, cli: Cli): void {
  policy
    .command("fmt")
    .description("format policy files in place")
    .argument("<file...>", "policy files")
    .option("--check", "change nothing; exits 1 if a file would change")
    .action(async (files: string[], { check }: { readonly check?: true }) => {
      const { runFormat } = await import("../policy/run-format.ts");
      cli.end(await runFormat(files, check === true, cli.terminal));
    });
}

const GRAPH_FORMATS = ["text", "dot"] as const;

interface GraphOptions {
  readonly policy: readonly string[];
  readonly format: (typeof GRAPH_FORMATS)[number];
  readonly out?: string;
}

function addGraph(policy: Command, cli: Cli): void {
  const format = choiceOption("-f, --format <format>", "default: text", GRAPH_FORMATS);
  const command = policy
    .command("graph")
    .description("show which tools affect which resources")
    .addOption(format.default("text", "text"))
    .option("-o, --out <file>", "write it to a file");
  addPolicyOption(command).action(async ({ policy: paths, format: as, out }: GraphOptions) => {
    const { runGraph } = await import("../policy/graph.ts");
    cli.end(await runGraph(paths, as, out, cli.terminal));
  });
}

function addImport(policy: Command, cli: Cli): void {
  const command = policy
    .command("import")
    .description("make a policy from tool definitions; notes go to stderr")
    .argument("<file...>", "JSON files with tool definitions")
    .addOption(
      choiceOption("-f, --format <format>", "format of the files", FORMATS).makeOptionMandatory(),
    )
    .option("-o, --out <file>", "write to a new file")
    .addOption(
      choiceOption(
        "--default <action>",
        "what happens to writes that no tier names; default: allow",
        DEFAULT_ACTIONS,
      ).default("allow", "allow"),
    )
    .option("--trusted", "mcp: trust the server's `readOnlyHint`");
  addJsonOption(command).action(async (files: string[], options: ImportOptions) => {
    const { runImport } = await import("../policy/run-import.ts");
    const { format, out } = options;
    const trusted = options.trusted === true;
    const json = options.json === true;
    cli.end(
      await runImport(
        files,
        { format, out, trusted, json, defaultAction: options.default },
        cli.terminal,
      ),
    );
  });
}

function addLint(policy: Command, cli: Cli): void {
  const command = policy
    .command("lint")
    .description("find probable mistakes in a valid policy; exits 1 if there are any")
    .argument("[file...]", "policy files, merged; - is stdin; the same as --policy")
    .addOption(choiceOption("--for <target>", "what the gate runs on", LINT_TARGETS));
  addJsonOption(addPolicyOption(command, "optional")).action(
    async (files: string[], options: LintOptions) => {
      const paths = [...files, ...(options.policy ?? [])];
      if (paths.length === 0) command.error("error: no policy file was given: name one");
      const { runLint } = await import("../policy/run-lint.ts");
      cli.end(await runLint(paths, options.json === true, cli.terminal, options.for));
    },
  );
}

function addExplain(policy: Command, cli: Cli): void {
  const command = policy
    .command("explain")
    .description("trace one call through every check, with the policy line of each")
    .option("-c, --call <json>", 'the call, {"tool": "…", "args": {…}}; - reads it from stdin')
    .option(
      "--conversation <file>",
      "recording of the conversation before the call; - is stdin; without --call its last call is explained",
    );
  addJsonOption(addPolicyOption(command)).action(async (options: ExplainOptions) => {
    const { call, conversation, policy: paths } = options;
    if (call === undefined && conversation === undefined) {
      command.error("error: nothing to explain: give --call or --conversation");
    }
    const { runExplain } = await import("../explain/run-explain.ts");
    const json = options.json === true;
    cli.end(await runExplain({ policy: paths, call, conversation, json }, cli.terminal));
  });
}

interface Options {
  readonly policy: readonly string[];
  readonly requireCoverage?: true;
  readonly json?: true;
}

const HELP = `
Without FILE: the cases beside the policy, payments.test.yaml for payments.yaml. A file contains

  cases:
    - name: an order is charged once
      calls:
        - { tool: charge_card, args: { order_id: 7 }, result: paid }
        - { tool: charge_card, args: { order_id: "7" }, after: 10s, expect: duplicate_call }

docs/policy-testing.md lists the keys. Exit codes: 0 all cases passed, 1 a case failed, 2 invalid file.`;

function addPolicyTest(policy: Command, cli: Cli): void {
  const command = policy
    .command("test")
    .description("run the test cases of a policy, and list rules that no case reaches")
    .argument("[file...]", "case files")
    .option("--require-coverage", "fail if no case reaches a rule")
    .addHelpText("after", HELP);
  addJsonOption(addPolicyOption(command)).action(async (files: string[], options: Options) => {
    const { runTest } = await import("../policy/test/run-test.ts");
    const { policy: paths, requireCoverage, json } = options;
    const wishes = { requireCoverage: requireCoverage === true, json: json === true };
    cli.end(await runTest({ policy: paths, files, ...wishes }, cli.terminal));
  });
}
