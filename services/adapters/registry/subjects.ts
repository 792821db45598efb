/**
 * Checks our schemas against a registry's, and registers them. A subject is `<topic>-value`
 * (TopicNameStrategy).
 */
import type { RegisteredVersion, RegistryClient } from "./registry-client.ts";

export type SubjectSchema = {
  /** `<topic>-value` */
  readonly subject: string;
  /** Name of the schema for messages. */
  readonly name: string;
  readonly schema: unknown;
};

/** Returns why a reader's schema cannot read records of a writer's schema; undefined: it can. */
export type ReadProblem = (reader: unknown, writerText: string) => string | undefined;

export type SubjectReport = {
  readonly subject: string;
  readonly name: string;
  /**
   * `registered`: the registry has this very schema. `new`: it has none under the subject.
   * `changed`: it has other versions, and accepts this one. `refused`: see `problems`.
   */
  readonly state: "registered" | "new" | "changed" | "refused";
  /** The id that records are written with; null where the schema is not registered. */
  readonly id: number | null;
  /** The subject's compatibility level; null where none is set. */
  readonly level: string | null;
  /** The problems, each with a remedy. */
  readonly problems: readonly string[];
};

/**
 * The level for a subject whose level is not one of the good ones, since journals are read for
 * ever.
 */
const LEVEL = "BACKWARD_TRANSITIVE";
const GOOD_LEVELS: readonly string[] = ["BACKWARD", LEVEL, "FULL", "FULL_TRANSITIVE"];

/** The text of a schema. The registry compares texts, so all are made here. */
export function schemaText(schema: unknown): string {
  return JSON.stringify(schema);
}

export function subjectOf(topicName: string): string {
  return `${topicName}-value`;
}

/**
 * Checks each schema: whether it is registered, and whether it can read records of every registered
 * version. Changes nothing.
 *
 * @throws RetryableError `schema_unavailable`
 */
export async function checkSubjects(
  client: RegistryClient,
  schemas: readonly SubjectSchema[],
  readProblem: ReadProblem,
): Promise<readonly SubjectReport[]> {
  await client.reach();
  return await Promise.all(schemas.map((each) => checkSubject(client, each, readProblem)));
}

/**
 * Registers missing schemas, and sets the compatibility level of subjects whose level would let
 * writers register schemas that the gate cannot read.
 *
 * @throws RetryableError `schema_unavailable`
 */
export async function registerSubjects(
  client: RegistryClient,
  schemas: readonly SubjectSchema[],
  readProblem: ReadProblem,
): Promise<readonly SubjectReport[]> {
  await client.reach();
  const reports: SubjectReport[] = [];
  for (const each of schemas) {
    const report = await checkSubject(client, each, readProblem, true);
    reports.push(report.problems.length > 0 ? report : await register(client, each, report));
  }
  return reports;
}

/**
 * A refusal is checked again, since a process that starts at the same time may have registered it.
 */
async function register(
  client: RegistryClient,
  { subject, schema }: SubjectSchema,
  report: SubjectReport,
): Promise<SubjectReport> {
  let { id } = report;
  if (id === null) {
    const text = schemaText(schema);
    const outcome = await client.register(subject, text);
    if ("refused" in outcome) {
      id = await client.idOf(subject, text);
      const problem = `the registry refuses it: ${outcome.refused}`;
      if (id === null) return { ...report, state: "refused", problems: [problem] };
    } else {
      id = outcome.id;
    }
  }
  const level = await client.level(subject);
  if (isGood(level)) return { ...report, state: "registered", id, level };
  try {
    await client.setLevel(subject, LEVEL);
  } catch (error) {
    if (!isGood(await client.level(subject))) throw error;
  }
  return { ...report, state: "registered", id, level: LEVEL };
}

function isGood(level: string | null): boolean {
  return level !== null && GOOD_LEVELS.includes(level);
}

async function checkSubject(
  client: RegistryClient,
  { subject, name, schema }: SubjectSchema,
  readProblem: ReadProblem,
  willSetLevel = false,
): Promise<SubjectReport> {
  const text = schemaText(schema);
  const latest = await client.latest(subject);
  const level = await client.level(subject);
  const about = { subject, name, level };
  if (latest === null) return { ...about, state: "new", id: null, problems: [] };
  const problems: string[] = [];
  if (!isGood(level) && !willSetLevel) {
    problems.push(
      `its compatibility is ${level ?? "not set"}: set it to ${LEVEL}, as registering it here does, so ` +
        "that no writer can register what the gate cannot read",
    );
  }
  for (const version of await versionsUpTo(client, subject, latest)) {
    const problem = readProblem(schema, version.schema);
    if (problem === undefined) continue;
    problems.push(
      `what was written with its version ${version.version} cannot be read: ${problem}. Delete that ` +
        "version if nothing was written with it, or use another topic name",
    );
  }
  const id = await client.idOf(subject, text);
  if (id === null) {
    const { compatible, reason } = await client.compatible(subject, text);
    if (!compatible) problems.push(`the registry would refuse it: ${reason}`);
  }
  const state = id === null ? "changed" : "registered";
  return { ...about, state: problems.length > 0 ? "refused" : state, id, problems };
}

/** Lists the versions that have not been deleted. */
async function versionsUpTo(
  client: RegistryClient,
  subject: string,
  latest: RegisteredVersion,
): Promise<readonly RegisteredVersion[]> {
  const versions: RegisteredVersion[] = [latest];
  for (let number = latest.version - 1; number >= 1; number -= 1) {
    const version = await client.version(subject, number);
    if (version !== null) versions.push(version);
  }
  return versions;
}
