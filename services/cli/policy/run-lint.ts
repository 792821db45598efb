/** `callgate policy lint`: finds statements of a policy that its author may not have meant. */
import { type LoadedPolicy, loadPolicy } from "../../adapters/policy/load.ts";
import type { PolicyFile } from "../../adapters/policy/read-yaml.ts";
import { describeLocation, formatProblem, type PolicyProblem } from "../../core/policy/problem.ts";
import { capabilities } from "../../gate/capabilities.ts";
import { compileGatePolicy, readPolicyFile } from "../../gate/gate-policy.ts";
import { EXIT_FINDINGS, EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { readStdin } from "../../process/text-files.ts";
import { nameOfInput, STDIN } from "../input/read-lines.ts";
import type { Style } from "../output/style.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted } from "../output/text.ts";
import type { Finding } from "./lint/finding.ts";
import { lintForKafka } from "./lint/tenant-scope.ts";
import { lintPolicy } from "./lint.ts";

/** What the policy is for: the gate on it may refuse what others do. */
export type LintTarget = "kafka";

/**
 * The problems of a policy that does not load are findings with file, line and column. `-` among
 * the paths is stdin.
 */
export async function runLint(
  paths: readonly string[],
  json: boolean,
  terminal: Terminal,
  target: LintTarget | null = null,
): Promise<ExitCode> {
  const findings = findingsOf(loadPolicy(await filesOf(paths, terminal)), target);
  const { style } = terminal.out;
  const text = json ? `${JSON.stringify({ findings: findings })}\n` : render(findings, style);
  await terminal.out.write(text);
  return findings.some(({ severity }) => severity !== "info") ? EXIT_FINDINGS : EXIT_OK;
}

async function filesOf(
  paths: readonly string[],
  { input }: Terminal,
): Promise<readonly PolicyFile[]> {
  if (paths.filter((path) => path === STDIN).length > 1) {
    throw usageError("`-` is given twice: stdin can be read only once; give it once");
  }
  return Promise.all(
    paths.map(async (path) =>
      path === STDIN
        ? { name: nameOfInput(path), text: await readStdin(input) }
        : readPolicyFile(path),
    ),
  );
}

function findingsOf(
  loaded: ReturnType<typeof loadPolicy>,
  target: LintTarget | null,
): readonly Finding[] {
  const compiled = compileGatePolicy(loaded, capabilities);
  if (!loaded.ok) return loaded.problems.map(problemFinding);
  if (!compiled.ok) return compiled.problems.map(problemFinding);
  return lintLoaded(loaded, target);
}

function lintLoaded(
  { document, source }: LoadedPolicy,
  target: LintTarget | null,
): readonly Finding[] {
  return lintPolicy(document, source, target === "kafka" ? [lintForKafka] : []);
}

function problemFinding(problem: PolicyProblem): Finding {
  return { ...problem, severity: "error", code: "invalid-policy" };
}

function render(findings: readonly Finding[], style: Style): string {
  const lines = findings.map((finding) => {
    const { severity, code } = finding;
    const [location, rest] = splitLocation(finding);
    return `${location} ${mark(severity, style)} ${rest} ${style.dim(`(${code})`)}\n`;
  });
  return `${lines.join("")}${verdict(findings)}\n`;
}

function splitLocation(finding: Finding): readonly [string, string] {
  const location = `${describeLocation(finding)}:`;
  return [location, formatProblem(finding).slice(location.length + 1)];
}

function mark(severity: Finding["severity"], style: Style): string {
  switch (severity) {
    case "error":
      return style.bad("error");
    case "warning":
      return style.waiting("warning");
    case "info":
      return style.dim("info");
  }
}

function verdict(findings: readonly Finding[]): string {
  if (findings.length === 0) return "nothing found";
  const count = (severity: Finding["severity"]) =>
    findings.filter((one) => one.severity === severity).length;
  return [
    counted(count("error"), "error"),
    counted(count("warning"), "warning"),
    `${count("info")} for information`,
  ].join(", ");
}
