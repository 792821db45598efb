/** `callgate verify`: checks the integrity of the journal. */
import { findDirectoryLosses } from "../../process/directory/recover-directory.ts";
import { EXIT_FINDINGS, EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import { openConfig } from "../../process/open-config.ts";
import { coreFold } from "../../runtime/core-engine.ts";
import { PipelineError } from "../../runtime/errors.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { type VerifyReport, verifyJournal } from "../../runtime/verify.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted } from "../output/text.ts";
import { assertReadable } from "./journal-records.ts";
import { dataDirOf, openSource, type SourceOptions } from "./open-source.ts";
import { findClusterLosses } from "./recover.ts";

export type VerifyOptions = SourceOptions & { readonly json: boolean };

/**
 * Longest default life of a conversation and of a hold, plus a day (docs/runtime.md); the journal
 * itself says if one is longer.
 */
const JOURNAL_SPAN_MS = 9 * 86_400_000;

export async function runVerify(options: VerifyOptions, terminal: Terminal): Promise<ExitCode> {
  const losses = await findLosses(options, terminal);
  const source = await openSource(options, terminal);
  const { log, codec, nameOf } = source;
  const reports: VerifyReport[] = [];
  try {
    await assertReadable(source);
    const context = { log, codec, fold: coreFold, journalSpanMs: JOURNAL_SPAN_MS };
    for (let partition = 0; partition < log.partitions; partition += 1) {
      reports.push(await verifyJournal(context, partition));
    }
  } finally {
    await source.close();
  }
  const problems = reports.flatMap((report) => report.problems);
  const isOk = problems.length === 0 && losses.length === 0;
  const { out } = terminal;
  const topic = nameOf(JOURNAL_TOPIC);
  if (options.json) {
    await out.write(`${JSON.stringify({ ok: isOk, topic, losses, partitions: reports })}\n`);
  } else {
    await out.write(render(reports, losses, topic, out.style));
  }
  return isOk ? EXIT_OK : EXIT_FINDINGS;
}

/** What a journal cannot show by itself: a missing end, or missing files beside it. */
async function findLosses(
  options: VerifyOptions,
  { err }: Pick<Terminal, "err">,
): Promise<readonly string[]> {
  const dataDir = dataDirOf(options);
  if (dataDir !== undefined) return (await findDirectoryLosses(dataDir)).losses;
  try {
    const partitionLosses = await findClusterLosses(openConfig(options.config, []), null);
    return partitionLosses.flatMap(({ losses }) => losses);
  } catch (error) {
    const isOfRedis = error instanceof PipelineError && error.code === "checkpoint_unavailable";
    if (!isOfRedis) throw error;
    await err.write(`callgate: the journal was not compared with its head: ${error.message}\n`);
    return [];
  }
}

function render(
  reports: readonly VerifyReport[],
  losses: readonly string[],
  topic: string,
  style: Terminal["out"]["style"],
): string {
  const rows = reports.map((one) => [
    ...[one.partition, one.records, one.firstSeq, one.lastSeq],
    ...[one.inputsCompared, one.stateHashesCompared],
    one.chainHead,
    one.problems.length,
  ]);
  const titles = [
    ...["partition", "records", "first", "last", "inputs", "hashes", "chain head", "problems"],
  ];
  const problemLines = reports.flatMap(({ problems }) =>
    problems.map(({ partition, offset, seq, problem }) => {
      const position = `${topic}, partition ${partition}, offset ${offset}`;
      return `${position}${seq === null ? "" : `, seq ${seq}`}: ${problem}\n`;
    }),
  );
  problemLines.push(...losses.map((loss) => `${loss}\n`));
  const records = reports.reduce((sum, one) => sum + one.records, 0);
  const verdict =
    problemLines.length === 0
      ? `${counted(records, "record")}: gapless, the chain unbroken, one decision for each call, ${ofInputs(reports)}\n`
      : `${counted(problemLines.length, "problem")} in ${counted(records, "record")}\n`;
  return `${textTable(titles, rows, style, [0, 1, 2, 3, 4, 5, 7])}${problemLines.join("")}${verdict}`;
}

function ofInputs(reports: readonly VerifyReport[]): string {
  const compared = reports.reduce((sum, { inputsCompared }) => sum + inputsCompared, 0);
  const problem = reports.find(({ inputsProblem }) => inputsProblem !== null)?.inputsProblem;
  const said = `one record for each of ${counted(compared, "input")} that ${compared === 1 ? "is" : "are"} still there`;
  return problem === undefined || problem === null
    ? said
    : `${said} (not all were checked: ${problem})`;
}
