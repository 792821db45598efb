/**
 * Checks our schemas against a registry's, and registers them. A subject is `<topic>-value`
 * (TopicNameStrategy).
 */
import type { Refusal, RegisteredVersion, RegistryClient } from "./registry-client.ts";

export type SubjectSchema = {
  /** `<topic>-value` */
  readonly subject: string;
  /** Name of the schema for messages. */
  readonly name: string;
  readonly schema: unknown;
  /** True for an input topic: other writers may register schemas under the subject. */
  readonly isInput: boolean;
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
  /** What other writers did to the subject of an input topic. It stops nobody. */
  readonly notes: readonly string[];
};

type Levels = {
  /** The level for a subject whose level is not one of the good ones. */
  readonly level: string;
  readonly good: readonly string[];
};

/** Only the gate registers schemas here, and journals are read for ever. */
const OUTPUT_LEVELS: Levels = {
  level: "BACKWARD_TRANSITIVE",
  good: ["BACKWARD", "BACKWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"],
};
/**
 * The registry refuses a writer whose schema the gate, the older reader, cannot read. It need not be
 * able to read what the gate can: a writer may require what is optional in ours.
 */
const INPUT_LEVELS: Levels = {
  level: "FORWARD_TRANSITIVE",
  good: ["FORWARD_TRANSITIVE", "FULL_TRANSITIVE"],
};

function levelsOf({ isInput }: SubjectSchema): Levels {
  return isInput ? INPUT_LEVELS : OUTPUT_LEVELS;
}

/** The text of a schema. The registry compares texts, so all are made here. */
export function schemaText(schema: unknown): string {
  return JSON.stringify(schema);
}

const TOPIC_SUFFIX = "-value";

export function subjectOf(topicName: string): string {
  return `${topicName}${TOPIC_SUFFIX}`;
}

/**
 * The subject for our schema where another writer's schema keeps it out of the topic's subject
 * (TopicRecordNameStrategy). Readers look a schema up by its id, whatever its subject.
 */
function ownSubjectOf({ subject, name }: SubjectSchema): string {
  return `${subject.slice(0, -TOPIC_SUFFIX.length)}-callgate.${name}`;
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
    if (report.problems.length > 0) {
      reports.push(report);
      continue;
    }
    const registered = await register(client, each, report);
    // What is noted of other writers may have changed with the registration.
    const { notes } =
      report.notes.length === 0 ? report : await checkSubject(client, each, readProblem);
    reports.push({ ...registered, notes });
  }
  return reports;
}

async function register(
  client: RegistryClient,
  schema: SubjectSchema,
  report: SubjectReport,
): Promise<SubjectReport> {
  const { subject, isInput } = schema;
  let { id } = report;
  if (id === null) {
    let outcome = await registerUnder(client, subject, schema.schema);
    if ("refused" in outcome && isInput) {
      outcome = await registerUnder(client, ownSubjectOf(schema), schema.schema);
    }
    if ("refused" in outcome) {
      const problem = `the registry refuses it: ${outcome.refused}`;
      return { ...report, state: "refused", problems: [problem] };
    }
    id = outcome.id;
  }
  const level = await raiseLevel(client, schema);
  return { ...report, state: "registered", id, level };
}

/**
 * A refusal is checked again, since a process that starts at the same time may have registered it.
 */
async function registerUnder(
  client: RegistryClient,
  subject: string,
  schema: unknown,
): Promise<{ readonly id: number } | Refusal> {
  const text = schemaText(schema);
  const outcome = await client.register(subject, text);
  if (!("refused" in outcome)) return outcome;
  const id = await client.idOf(subject, text);
  return id === null ? outcome : { id };
}

async function raiseLevel(client: RegistryClient, schema: SubjectSchema): Promise<string | null> {
  const { level: wanted } = levelsOf(schema);
  const level = await client.level(schema.subject);
  if (isGood(schema, level)) return level;
  try {
    await client.setLevel(schema.subject, wanted);
  } catch (error) {
    if (!isGood(schema, await client.level(schema.subject))) throw error;
  }
  return wanted;
}

function isGood(schema: SubjectSchema, level: string | null): boolean {
  return level !== null && levelsOf(schema).good.includes(level);
}

async function checkSubject(
  client: RegistryClient,
  schema: SubjectSchema,
  readProblem: ReadProblem,
  willSetLevel = false,
): Promise<SubjectReport> {
  const { subject, name, isInput } = schema;
  const latest = await client.latest(subject);
  const level = await client.level(subject);
  const about = { subject, name, level };
  if (latest === null) return { ...about, state: "new", id: null, problems: [], notes: [] };
  const findings = [
    ...(willSetLevel ? [] : describeLevel(schema, level)),
    ...(await describeVersions(client, schema, latest, readProblem)),
  ];
  const id = await findId(client, schema);
  if (id === null) findings.push(...(await describeRefusal(client, schema)));
  if (isInput && latest.id !== id) findings.push(describeLatest(latest));
  const problems = isInput ? [] : findings;
  const state = id === null ? "changed" : "registered";
  return {
    ...about,
    ...{ state: problems.length > 0 ? "refused" : state, id, problems },
    notes: isInput ? findings : [],
  };
}

async function findId(client: RegistryClient, schema: SubjectSchema): Promise<number | null> {
  const text = schemaText(schema.schema);
  const id = await client.idOf(schema.subject, text);
  return id === null && schema.isInput ? await client.idOf(ownSubjectOf(schema), text) : id;
}

function describeLevel(schema: SubjectSchema, level: string | null): readonly string[] {
  if (isGood(schema, level)) return [];
  return [
    `its compatibility is ${level ?? "not set"}: set it to ${levelsOf(schema).level}, as registering it here ` +
      "does, so that no writer can register what the gate cannot read",
  ];
}

async function describeVersions(
  client: RegistryClient,
  { subject, schema, isInput }: SubjectSchema,
  latest: RegisteredVersion,
  readProblem: ReadProblem,
): Promise<readonly string[]> {
  const remedy = isInput
    ? "its records become dead letters until their producer uses a schema that ours can read"
    : "Delete that version if nothing was written with it, or use another topic name";
  const texts: string[] = [];
  for (const version of await versionsUpTo(client, subject, latest)) {
    const problem = readProblem(schema, version.schema);
    if (problem === undefined) continue;
    const what = `what was written with its version ${version.version} cannot be read`;
    texts.push(`${what}: ${problem}. ${remedy}`);
  }
  return texts;
}

async function describeRefusal(
  client: RegistryClient,
  { subject, schema }: SubjectSchema,
): Promise<readonly string[]> {
  const { compatible, reason } = await client.compatible(subject, schemaText(schema));
  return compatible ? [] : [`the registry would refuse it: ${reason}`];
}

function describeLatest({ version, id }: RegisteredVersion): string {
  return (
    `its latest version, ${version} with id ${id}, is not ours: another writer registered it ` +
    "(`auto.register.schemas` of a serializer); let writers use our schema"
  );
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
