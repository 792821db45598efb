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
  /** True: missing schemas are registered; false: they are an error. */
  readonly register: boolean;
};

export type OpenedRegistry = {
  /** Ids to write with, by the schemas' names. */
  readonly ids: Readonly<Record<string, number>>;
  /** The schemas of other writers. */
  readonly schemas: FetchedSchemas;
};

/**
 * HTTP statuses that a retry cannot change: wrong credentials, or the address of another service.
 */
const REFUSED_STATUSES = [401, 403, 404];
const ADVICE =
  "`callgate schemas check` shows the problems, `callgate schemas register` adds missing schemas";

/**
 * Looks up, or registers, every schema. After that the registry is only asked for ids that are new.
 *
 * @throws RetryableError `schema_unavailable` where the registry does not answer;
 *   FatalError `registry_refused` or `schema_incompatible`, with every problem.
 */
export async function openRegistry(options: OpenRegistryOptions): Promise<OpenedRegistry> {
  const { client, schemas, clock } = options;
  const reports = await readReports(options);
  const problems = reports.flatMap(problemsOf);
  if (problems.length > 0) {
    throw new FatalError(
      "schema_incompatible",
      `the schema registry does not match: ${problems.join("; ")}. ${ADVICE}`,
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
        ? "check that the address is that of the API"
        : "check the user name and the password";
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
