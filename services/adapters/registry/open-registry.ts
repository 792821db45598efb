import { FatalError, RetryableError } from "../../runtime/errors.ts";
import type { Clock } from "../../runtime/ports.ts";
import { FetchedSchemas } from "./fetched-schemas.ts";
import type { RegistryClient } from "./registry-client.ts";
import {
  checkSubjects,
  type ReadProblem,
  registerSubjects,
  type SubjectReport,
  type SubjectSchema,
} from "./subjects.ts";

export type OpenRegistryOptions = {
  readonly client: RegistryClient;
  readonly schemas: readonly SubjectSchema[];
  readonly readProblem: ReadProblem;
  readonly clock: Clock;
  /** Whether what is not registered is registered; else it must be there. */
  readonly register: boolean;
};

export type OpenedRegistry = {
  /** Ids to write with, by the schemas' names. */
  readonly ids: Readonly<Record<string, number>>;
  /** What others wrote with. */
  readonly schemas: FetchedSchemas;
};

/** Statuses that no waiting mends: the login, or an address that is no registry's. */
const REFUSED_STATUSES = [401, 403, 404];
const ADVICE =
  "callgate schemas check says what is wrong, callgate schemas register adds what is missing";

/**
 * Looks up, or registers, every schema. From then on the registry is asked about nothing but ids that
 * no record had before.
 *
 * @throws RetryableError `schema_unavailable` where the registry does not answer: to be tried again;
 *   FatalError `registry_refused` or `schema_incompatible`, with every problem.
 */
export async function openRegistry(options: OpenRegistryOptions): Promise<OpenedRegistry> {
  const { client, schemas, clock } = options;
  const reports = await readReports(options);
  const problems = reports.flatMap(problemsOf);
  if (problems.length > 0) {
    throw new FatalError(
      "schema_incompatible",
      `the schema registry does not fit: ${problems.join("; ")}. ${ADVICE}`,
    );
  }
  const idsOf = new Map(reports.map(({ name, id }) => [name, id ?? 0]));
  const own = new Map(schemas.map(({ name, schema }) => [idsOf.get(name) ?? 0, schema]));
  const registeredSubject = schemas[0]?.subject ?? "";
  return {
    ids: Object.fromEntries(idsOf),
    schemas: new FetchedSchemas({ client, clock, registeredSubject, own }),
  };
}

async function readReports(options: OpenRegistryOptions): Promise<readonly SubjectReport[]> {
  const { client, schemas, readProblem, register } = options;
  try {
    const read = register ? registerSubjects : checkSubjects;
    return await read(client, schemas, readProblem);
  } catch (error) {
    const status = error instanceof RetryableError ? error.context["status"] : 0;
    if (typeof status !== "number" || !REFUSED_STATUSES.includes(status)) throw error;
    const text = error instanceof Error ? error.message : String(error);
    const advice =
      status === 404
        ? "look whether its address is that of the API"
        : "look at the name and password it is given";
    throw new FatalError("registry_refused", `${text} (status ${status}): ${advice}`);
  }
}

function problemsOf(report: SubjectReport): readonly string[] {
  const { subject, name, state, id } = report;
  const problems = report.problems.map((problem) => `${subject}: ${problem}`);
  if (problems.length > 0 || id !== null) return problems;
  const what = state === "new" ? "is not registered" : "is registered in another version only";
  return [`${subject}: \`${name}\` ${what}`];
}
