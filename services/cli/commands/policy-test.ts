import type { Command } from "commander";
import { addJsonOption, addPolicyOption, type Cli } from "./cli.ts";

interface Options {
  readonly policy: readonly string[];
  readonly requireCoverage?: true;
  readonly json?: true;
}

const HELP = `
Without FILE: the cases beside the policy, payments.test.yaml for payments.yaml. A file holds

  cases:
    - name: an order is charged once
      calls:
        - { tool: charge_card, args: { order_id: 7 }, result: paid }
        - { tool: charge_card, args: { order_id: "7" }, after: 10s, expect: duplicate_call }

docs/policy-testing.md lists the keys. Exit codes: 0 all as expected, 1 a case failed, 2 a file is wrong.`;

export function addPolicyTest(policy: Command, cli: Cli): void {
  const command = policy
    .command("test")
    .description("run the test cases of a policy, and list rules that no case reaches")
    .argument("[file...]", "case files")
    .option("--require-coverage", "fail if a rule is reached by no case")
    .addHelpText("after", HELP);
  addJsonOption(addPolicyOption(command)).action(async (files: string[], options: Options) => {
    const { runTest } = await import("../policy/test/run-test.ts");
    const { policy: paths, requireCoverage, json } = options;
    const wishes = { requireCoverage: requireCoverage === true, json: json === true };
    cli.end(await runTest({ policy: paths, files, ...wishes }, cli.terminal));
  });
}
