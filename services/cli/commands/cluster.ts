/** Commands for operators: topics, schemas, the journal, the dead letters. */
import { type Command, InvalidArgumentError } from "commander";
import { usageError } from "../../process/exit-error.ts";
import type { TailOptions } from "../cluster/tail.ts";
import {
  addConfigOption,
  addDataDirOption,
  addJsonOption,
  addPolicyOption,
  type Cli,
  choiceOption,
  DATA_DIR_ELSE,
} from "./cli.ts";

type Common = { readonly config?: string; readonly dataDir?: string; readonly json?: true };

const OUTCOMES = ["allowed", "refused", "held"];

export function addCluster(program: Command, cli: Cli): void {
  addTopics(program, cli);
  addSchemas(program, cli);
  addTail(program, cli);
  addExplainDecision(program, cli);
  addDeadLetters(program, cli);
  addVerify(program, cli);
  const doctor = program
    .command("doctor")
    .description("check everything that a gate needs; print each problem and its fix");
  addJsonOption(addConfigOption(doctor)).action(async ({ config, json }: Common) => {
    const { runDoctor } = await import("../cluster/doctor.ts");
    cli.end(await runDoctor(config, json === true, cli.terminal));
  });
}

function addTopics(program: Command, cli: Cli): void {
  const topics = program
    .command("topics")
    .description("check, create and configure the topics of a cluster");
  type Options = Common & { readonly partitions?: number; readonly replication?: number };
  const add = (name: "plan" | "apply", description: string) => {
    const command = topics
      .command(name)
      .description(description)
      .option(
        "--partitions <number>",
        "partitions of new topics; default: as existing topics, or 4",
        count,
      )
      .option(
        "--replication <number>",
        "replicas of each topic; default: 3, or one per broker",
        count,
      );
    addJsonOption(addConfigOption(command)).action(async (options: Options) => {
      const { openConfig } = await import("../../process/open-config.ts");
      const { runTopics } = await import("../cluster/topics.ts");
      const { partitions, replication, json } = options;
      const config = openConfig(options.config, []);
      const wishes = { partitions, replication, apply: name === "apply", json: json === true };
      cli.end(await runTopics(config, wishes, cli.terminal));
    });
  };
  add("plan", "show the changes that the topics need; changes nothing");
  add("apply", "create missing topics and correct wrong settings");
}

function addSchemas(program: Command, cli: Cli): void {
  const schemas = program
    .command("schemas")
    .description("compare and register the schemas of the topics");
  const add = (name: "check" | "register", description: string) => {
    addJsonOption(addConfigOption(schemas.command(name).description(description))).action(
      async ({ config, json }: Common) => {
        const { openConfig } = await import("../../process/open-config.ts");
        const { runSchemas } = await import("../cluster/schemas.ts");
        const options = { register: name === "register", json: json === true };
        cli.end(await runSchemas(openConfig(config, []), options, cli.terminal));
      },
    );
  };
  add("check", "check whether they are compatible with the registry; changes nothing");
  add("register", "register the missing ones, with a compatibility level that keeps them readable");
}

function addTail(program: Command, cli: Cli): void {
  type Options = Common &
    Partial<Pick<TailOptions, "conversation" | "tool" | "reason" | "outcome" | "limit">> & {
      readonly fromBeginning?: true;
      readonly once?: true;
    };
  const command = program
    .command("tail")
    .description("print decisions as they are made")
    .option("--conversation <id>", "only this conversation (or tenant/conversation)")
    .option("--tool <name>", "only this tool")
    .option("--reason <code>", "only this reason")
    .addOption(choiceOption("--outcome <outcome>", "only decisions of this kind", OUTCOMES))
    .option("--from-beginning", "begin with the oldest decision")
    .option("--once", "stop at the newest decision")
    .option("--limit <number>", "stop after this many decisions", count);
  addSource(command).action(async (options: Options) => {
    const { runTail } = await import("../cluster/tail.ts");
    const { conversation, tool, reason, outcome, limit } = options;
    const filter = { conversation, tool, reason, outcome, limit };
    const fromBeginning = options.fromBeginning === true;
    const once = options.once === true;
    cli.end(await runTail({ ...sourceOf(options), ...filter, fromBeginning, once }, cli.terminal));
  });
}

function addExplainDecision(program: Command, cli: Cli): void {
  const command = program
    .command("explain")
    .description("explain one decision: its check, earlier call and policy line")
    .argument("<decision>", "id, or a unique prefix of it");
  addSource(addPolicyOption(command, "optional")).action(
    async (id: string, options: Common & { readonly policy?: readonly string[] }) => {
      const { runExplainDecision } = await import("../cluster/explain-decision.ts");
      const asked = { ...sourceOf(options), id, policy: options.policy ?? [] };
      cli.end(await runExplainDecision(asked, cli.terminal));
    },
  );
}

function addDeadLetters(program: Command, cli: Cli): void {
  const dlq = program
    .command("dlq")
    .description("list and replay dead letters: inputs that could not be decided");
  addSource(dlq.command("list").description("list the dead letters")).action(
    async (options: Common) => {
      const { listDeadLetters } = await import("../cluster/dead-letters.ts");
      cli.end(await listDeadLetters(sourceOf(options), cli.terminal));
    },
  );
  addSource(
    dlq
      .command("show")
      .description("one of them")
      .argument("<letter>", "its id, as `dlq list` prints it"),
  ).action(async (name: string, options: Common) => {
    const { showDeadLetter } = await import("../cluster/dead-letters.ts");
    cli.end(await showDeadLetter(name, sourceOf(options), cli.terminal));
  });
  addSource(
    dlq
      .command("replay")
      .description("append inputs again, unchanged, once their cause is fixed")
      .argument("[letters...]", "their ids, as `dlq list` prints them")
      .option("--all", "all of them")
      .option("--dry-run", "print what would be replayed"),
  ).action(
    async (
      names: readonly string[],
      options: Common & { readonly all?: true; readonly dryRun?: true },
    ) => {
      if ((names.length === 0) !== (options.all === true)) {
        throw usageError("name the letters, or give --all (see: dlq list)");
      }
      const { replayDeadLetters } = await import("../cluster/dead-letters.ts");
      const asked = { ...sourceOf(options), dryRun: options.dryRun === true };
      cli.end(await replayDeadLetters(names, asked, cli.terminal));
    },
  );
}

function addVerify(program: Command, cli: Cli): void {
  const command = program
    .command("verify")
    .description(
      "check the journal: no gaps, chained, one decision per call, one record per input",
    );
  addSource(command).action(async (options: Common) => {
    const { runVerify } = await import("../cluster/verify.ts");
    cli.end(await runVerify(sourceOf(options), cli.terminal));
  });
}

function addSource(command: Command): Command {
  return addJsonOption(addDataDirOption(addConfigOption(command)));
}

function sourceOf({ config, dataDir, json }: Common) {
  return { config, dataDir, dataDirElse: DATA_DIR_ELSE, json: json === true } as const;
}

function count(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("it must be a whole number above 0");
}
