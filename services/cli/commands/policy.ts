import { Argument, type Command, Option } from "commander";
import type { ImportFormat } from "../policy/import/import-tools.ts";
import type { DefaultAction } from "../policy/import/policy-text.ts";
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

interface DefinitionOptions {
  readonly format?: ImportFormat;
  readonly mcp?: readonly string[];
  readonly module?: readonly string[];
  readonly trusted?: true;
}

interface ImportOptions extends DefinitionOptions {
  readonly default: DefaultAction;
  readonly declaredOnly?: true;
  readonly out?: string;
  readonly json?: true;
}

interface NewOptions extends DefinitionOptions {
  readonly from?: readonly string[];
  readonly yes?: true;
  readonly out?: string;
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
  addSuggest(policy, cli);
  addLint(policy, cli);
  addExplain(policy, cli);
  addPolicyTest(policy, cli);
  addNew(policy, cli);
  addFormat(policy, cli);
  addGraph(policy, cli);
}

const TEMPLATES = ["support-agent", "coding-agent", "payments", "mcp-server"] as const;

const NEW_HELP = `
With a template, it is printed or written to a new file. With --from, --mcp or --module, the policy is
made from tool definitions: questions about what is unsure, then three made-up conversations as the
policy decides them. Test cases are written beside it.

  callgate policy new support-agent -o policy.yaml
  callgate policy new --from tools.json
  callgate policy new --mcp "npx -y @modelcontextprotocol/server-filesystem ." --yes`;

const NEW_FILE = "policy.yaml";

function addNew(policy: Command, cli: Cli): void {
  const command = policy
    .command("new")
    .description("write a policy: a template, or one from tool definitions")
    .addArgument(new Argument("[template]", "what it is for").choices(TEMPLATES))
    .option("--from <file>", "tool definitions, JSON or YAML; several are one policy", collect)
    .option("-y, --yes", "ask nothing: what is unsure counts as a write")
    .option("-o, --out <file>", `write to a new file; with definitions the default is ${NEW_FILE}`)
    .addHelpText("after", NEW_HELP);
  addDefinitionOptions(command).action(
    async (template: (typeof TEMPLATES)[number] | undefined, options: NewOptions) => {
      const { from = [], mcp = [], module = [], out } = options;
      const isFrom = from.length + mcp.length + module.length > 0;
      if (isFrom === (template !== undefined)) {
        command.error("error: name a template, or give definitions with --from, --mcp or --module");
      }
      if (template !== undefined) {
        const { runNew } = await import("../policy/run-new.ts");
        cli.end(await runNew(template, out, cli.terminal));
        return;
      }
      const { runNewFrom } = await import("../policy/run-new-from.ts");
      const wishes = { yes: options.yes === true, out: out ?? NEW_FILE };
      cli.end(await runNewFrom({ ...definitionsOf(from, options), ...wishes }, cli.terminal));
    },
  );
}

function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

function addDefinitionOptions(command: Command): Command {
  return command
    .addOption(
      choiceOption("-f, --format <format>", "format of the files; default: recognized", FORMATS),
    )
    .option("--mcp <command>", "start this MCP server and ask it for its tools", collect)
    .option("--module <file>", "import this module, which exports tools of a program", collect)
    .option("--trusted", "mcp: trust the server's `readOnlyHint`");
}

function definitionsOf(files: readonly string[], options: DefinitionOptions) {
  const { format = null, mcp = [], module: modules = [], trusted } = options;
  return { files, format, mcp, modules, trusted: trusted === true };
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

const IMPORT_HELP = `
What the definitions leave open is guessed from names, descriptions and schemas; a comment above each
tool says what and why. Lines that hold calls for a person are comments, except for what destroys
things that others own. docs/policy-import.md has the rules.`;

function addImport(policy: Command, cli: Cli): void {
  const command = policy
    .command("import")
    .description("make a policy from tool definitions; notes go to stderr")
    .argument("[file...]", "files with tool definitions, JSON or YAML")
    .option("-o, --out <file>", "write to a new file")
    .addOption(
      choiceOption(
        "--default <action>",
        "what happens to writes that no tier names; default: allow",
        DEFAULT_ACTIONS,
      ).default("allow", "allow"),
    )
    .option("--declared-only", "guess nothing: write only what the definitions declare")
    .addHelpText("after", IMPORT_HELP);
  addJsonOption(addDefinitionOptions(command)).action(
    async (files: string[], options: ImportOptions) => {
      const { runImport } = await import("../policy/run-import.ts");
      const { out, json, declaredOnly, default: defaultAction } = options;
      const asked = {
        out,
        json: json === true,
        declaredOnly: declaredOnly === true,
        defaultAction,
      };
      cli.end(await runImport({ ...definitionsOf(files, options), ...asked }, cli.terminal));
    },
  );
}

interface SuggestOptions {
  readonly from: readonly string[];
  readonly policy?: readonly string[];
  readonly out?: string;
  readonly json?: true;
}

const SUGGEST_HELP = `
FILE is a recording as for \`replay\`, or the data directory of an embedded gate. Proposed are reads whose
repeats never gave anything else, tools that change one thing, and a budget by quantile. A comment above
each says what the recordings show, and how many of their calls the lines decide otherwise.

  callgate policy suggest --from .callgate --policy policy.yaml -o suggested.yaml
  callgate policy suggest --from calls.jsonl`;

function addSuggest(policy: Command, cli: Cli): void {
  const command = policy
    .command("suggest")
    .description("propose lines for a policy from recorded calls")
    .addOption(
      new Option("--from <file>", "recordings, or a data directory; several are read together")
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .option("-o, --out <file>", "write to a new file")
    .addHelpText("after", SUGGEST_HELP);
  addJsonOption(addPolicyOption(command, "optional")).action(async (options: SuggestOptions) => {
    const { runSuggest } = await import("../policy/run-suggest.ts");
    const { from, policy: paths = [], out, json } = options;
    cli.end(await runSuggest({ from, policy: paths, out, json: json === true }, cli.terminal));
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
