/** `callgate policy test`: runs cases through a policy, and shows which of its rules they reach. */
import { existsSync } from "node:fs";
import {
  type CaseLocation,
  type PolicyCase,
  readCases,
} from "../../../adapters/policy/read-cases.ts";
import { formatProblem } from "../../../core/policy/problem.ts";
import type { PolicySource } from "../../../core/policy/source.ts";
import { openPolicy, readPolicyFile } from "../../../gate/gate-policy.ts";
import { EXIT_FINDINGS, EXIT_OK, type ExitCode, usageError } from "../../../process/exit-error.ts";
import type { Style } from "../../output/style.ts";
import type { Terminal } from "../../output/terminal.ts";
import { counted, printable } from "../../output/text.ts";
import { Coverage } from "./coverage.ts";
import { findMismatches, type Mismatch } from "./find-mismatches.ts";
import { runCase } from "./run-case.ts";

export type TestOptions = {
  readonly policy: readonly string[];
  /** Files of cases; empty: those beside the policy files. */
  readonly files: readonly string[];
  /** A rule that no case reaches is a failure. */
  readonly requireCoverage: boolean;
  readonly json: boolean;
};

type Failure = Mismatch & {
  /** From 1. */
  readonly call: number;
  readonly tool: string;
  readonly location: string;
};

type TestedCase = {
  readonly name: string;
  readonly location: string;
  readonly failures: readonly Failure[];
};

type Unreached = { readonly rule: string; readonly location: string };

type Report = {
  readonly cases: readonly TestedCase[];
  readonly rules: number;
  readonly unreached: readonly Unreached[];
};

/** @throws ExitError: an unreadable file, or an invalid policy or case. */
export async function runTest(options: TestOptions, terminal: Terminal): Promise<ExitCode> {
  const { document, compiled, loaded } = await openPolicy(options.policy);
  const cases = await casesOf(filesOf(options));
  const coverage = new Coverage(document, compiled);
  const tested = cases.map((one): TestedCase => {
    const decided = runCase(one, compiled);
    for (const call of decided) coverage.add(call);
    const failures = decided.flatMap((call, index) =>
      findMismatches(call).map((mismatch) => ({
        call: index + 1,
        tool: call.call.tool,
        location: formatLocation(call.call.location),
        ...mismatch,
      })),
    );
    return { name: one.name, location: formatLocation(one.location), failures };
  });
  const { rules } = coverage;
  const report = {
    cases: tested,
    rules: rules.length,
    unreached: unreachedIn(rules, loaded.source),
  };
  const failed = tested.filter(({ failures }) => failures.length > 0).length;
  const isOk = failed === 0 && (!options.requireCoverage || report.unreached.length === 0);
  await terminal.out.write(
    options.json
      ? `${JSON.stringify({ ok: isOk, passed: tested.length - failed, failed, ...report })}\n`
      : render(report, terminal.out.style),
  );
  return isOk ? EXIT_OK : EXIT_FINDINGS;
}

/** `payments.yaml` has its cases in `payments.test.yaml`. */
function filesOf({ files, policy }: TestOptions): readonly string[] {
  if (files.length > 0) return files;
  const beside = policy.map((path) => path.replace(/(\.ya?ml)?$/, ".test.yaml"));
  const testFiles = beside.filter((path) => existsSync(path));
  if (testFiles.length > 0) return testFiles;
  throw usageError(
    `there are no cases in ${beside.join(", ")}; name the files that have them, or write for example: ${SAMPLE_CASES}`,
  );
}

/** A file of cases in one line, so that it can be copied from a terminal. */
const SAMPLE_CASES =
  "cases: [{ name: an order may be read, calls: [{ tool: get_order, args: { id: 7 }, expect: allowed }] }]";

async function casesOf(paths: readonly string[]): Promise<readonly PolicyCase[]> {
  const files = await Promise.all(paths.map(readPolicyFile));
  const read = files.map(readCases);
  const problems = read.flatMap((one) => (one.ok ? [] : one.problems));
  if (problems.length > 0) throw usageError(problems.map(formatProblem));
  return read.flatMap((one) => (one.ok ? one.cases : []));
}

function formatLocation({ file, line, column }: CaseLocation): string {
  return `${file}:${line}:${column}`;
}

function unreachedIn(rules: Coverage["rules"], source: PolicySource): readonly Unreached[] {
  return rules
    .filter(({ calls }) => calls === 0)
    .map(({ rule }) => {
      const at = source.locate(rule);
      return { rule, location: at === null ? "" : formatLocation(at) };
    });
}

const NAME_CHARACTERS = 100;

function render({ cases, rules, unreached }: Report, style: Style): string {
  const lines = cases.flatMap(({ name, location, failures }) => [
    `${failures.length === 0 ? style.good("ok    ") : style.bad("FAILED")} ${location}  ${printable(name, NAME_CHARACTERS)}`,
    ...failures.map((failure) => `       ${sentence(failure)}`),
  ]);
  const failed = cases.filter(({ failures }) => failures.length > 0).length;
  const reached = rules - unreached.length;
  return [
    ...lines,
    "",
    style.bold(`${counted(cases.length, "case")}, ${failed} failed`),
    `${reached} of ${counted(rules, "rule")} reached${unreached.length === 0 ? "" : "; no case reaches"}`,
    ...unreached.map(({ rule, location }) => `  ${location}  ${rule}`),
    "",
  ].join("\n");
}

function sentence(failure: Failure): string {
  const { location, call, tool, what, expected, actual, afterVerdict, number } = failure;
  const said = `${location}: call ${call} ${printable(tool, NAME_CHARACTERS)}:`;
  if (what === "verdict") {
    return `${said} was ${actual} and not held, so there is nothing to approve or deny; remove \`verdict\``;
  }
  if (what === "answer") return `${said} answer ${number} is ${actual}, expected ${expected}`;
  if (what === "reconcile") {
    return `${said} its reconciliation ${number} changes nothing (${actual}); name a call whose outcome is unknown`;
  }
  const when = afterVerdict ? " after the verdict" : "";
  return `${said} ${what}${when} is ${actual}, expected ${expected}`;
}
