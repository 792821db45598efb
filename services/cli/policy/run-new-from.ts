/** `callgate policy new --from`: a policy and its test cases from tool definitions. */
import { loadPolicy } from "../../adapters/policy/load.ts";
import { formatProblem } from "../../core/policy/problem.ts";
import { capabilities } from "../../gate/capabilities.ts";
import { compileGatePolicy } from "../../gate/gate-policy.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { openResult, refuseExisting } from "../output/result-writer.ts";
import type { Style } from "../output/style.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted, printable } from "../output/text.ts";
import { type ImportSource, importTools } from "./import/import-tools.ts";
import { type Answers, askQuestions } from "./new/ask-questions.ts";
import { casesText, HELD_CASE, type MadeCase, makeCases } from "./new/make-cases.ts";
import { noteLines } from "./note-lines.ts";
import { loadSources, type SourceOptions } from "./sources/load-sources.ts";

export type NewFromOptions = SourceOptions & {
  readonly trusted: boolean;
  /** Asks nothing: what is unsure is a write, and writes are allowed. */
  readonly yes: boolean;
  /** Where the policy is written; its cases go beside it. Neither may exist. */
  readonly out: string;
};

export async function runNewFrom(options: NewFromOptions, terminal: Terminal): Promise<ExitCode> {
  const { out, yes, trusted } = options;
  if (!yes && !terminal.isInteractive) {
    throw usageError("policy new --from asks questions, and this is no terminal: add --yes");
  }
  const testFile = out.replace(/(\.ya?ml)?$/, ".test.yaml");
  for (const path of [out, testFile]) refuseExisting(path);
  const sources = await loadSources(options);
  const first = importAll(sources, { trusted });
  const answers = yes ? NO_ANSWERS : await askQuestions(first.questions, terminal);
  const { yaml, notes } = importAll(sources, { trusted, ...answers });
  const cases = casesOf(yaml, out);
  await writeFile(terminal, out, yaml);
  await writeFile(terminal, testFile, casesText(cases, out));
  await terminal.err.write(noteLines(notes).join(""));
  await terminal.out.write(render({ out, testFile, cases, yaml }, terminal.out.style));
  return EXIT_OK;
}

const NO_ANSWERS: Answers = { reads: new Map(), defaultAction: "allow" };

function importAll(
  sources: readonly ImportSource[],
  options: Partial<Answers> & { readonly trusted: boolean },
) {
  const imported = importTools(sources, "mcp", options);
  if (!imported.ok) throw usageError(imported.problems.map(formatProblem));
  return imported;
}

function casesOf(yaml: string, out: string): readonly MadeCase[] {
  const result = compileGatePolicy(loadPolicy([{ name: out, text: yaml }]), capabilities);
  if (!result.ok) throw usageError(result.problems.map(formatProblem));
  return makeCases(result.policy.document, result.policy.compiled);
}

async function writeFile(terminal: Terminal, path: string, text: string): Promise<void> {
  const file = await openResult(terminal, path);
  try {
    await file.write(text);
  } finally {
    await file.close();
  }
}

type Written = {
  readonly out: string;
  readonly testFile: string;
  readonly cases: readonly MadeCase[];
  readonly yaml: string;
};

const CALL_CHARACTERS = 70;

const SAID_BY_DEFAULT = {
  allow: "a write that no tier names runs without a person",
  ask: "a write that no tier names waits for a person",
  deny: "a write that no tier names is refused",
} as const;

function defaultOf(yaml: string): keyof typeof SAID_BY_DEFAULT {
  const [, action] = /^ +default: (allow|ask|deny)$/m.exec(yaml) ?? [];
  return (action ?? "allow") as keyof typeof SAID_BY_DEFAULT;
}

function render({ out, testFile, cases, yaml }: Written, style: Style): string {
  const unsure = yaml.split("\n").filter((line) => line.trimStart().startsWith("# unsure:")).length;
  return [
    style.bold("What this policy does:"),
    ...cases.flatMap(({ name, calls }) => [
      `  ${name}`,
      ...calls.map(({ tool, args, expect }) => {
        const call = printable(`${tool} ${JSON.stringify(args)}`, CALL_CHARACTERS);
        const said =
          typeof expect === "string" ? expect : "answered from memory, the tool does not run";
        return `    ${call.padEnd(CALL_CHARACTERS)} ${said}`;
      }),
    ]),
    ...(cases.some(({ name }) => name === HELD_CASE) ? [] : ["  no call waits for a person"]),
    `  ${SAID_BY_DEFAULT[defaultOf(yaml)]}; comments at \`authorization\` propose tiers for more`,
    "",
    ...(unsure > 0 ? [`${counted(unsure, "tool")} counted as a write and marked "unsure"`] : []),
    `wrote ${out} and ${testFile}; run: callgate policy test -p ${out}`,
    "",
  ].join("\n");
}
