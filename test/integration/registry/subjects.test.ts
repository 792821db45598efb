// Checks and registers schemas at a real registry; each test has its own topic names.
import { beforeAll, describe, expect, it } from "vitest";
import {
  type OpenedRegistry,
  openRegistry,
} from "../../../services/adapters/registry/open-registry.ts";
import {
  createRegistryClient,
  type RegistryClient,
} from "../../../services/adapters/registry/registry-client.ts";
import {
  checkSubjects,
  registerSubjects,
  type SubjectSchema,
  subjectOf,
} from "../../../services/adapters/registry/subjects.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { FatalError } from "../../../services/runtime/errors.ts";
import { type AvroCodec, createAvroCodec } from "../../../services/wire/codec.ts";
import {
  type AvroSchema,
  readSchemaFiles,
  SCHEMA_NAMES,
  type SchemaName,
} from "../../../services/wire/schema-files.ts";
import { readProblem } from "../../../services/wire/writer-schemas.ts";
import { registryBackend } from "../../support/backends/registry-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import {
  ALLOWED,
  journalOf,
  SAMPLE_PROPOSAL,
  SAMPLE_RESULT,
  SAMPLE_SECRETS,
} from "../../support/wire/samples.ts";
import { withField } from "../../support/wire/schema-walk.ts";

const backend = await registryBackend();
const files = readSchemaFiles();
const clock = systemClock;

type Schemas = { readonly [name in SchemaName]?: AvroSchema };

/** All schemas under topics of one prefix, with some of them changed. */
function underTest(prefix: string, changed: Schemas = {}): readonly SubjectSchema[] {
  return SCHEMA_NAMES.map((name) => ({
    subject: subjectOf(`${prefix}.${name}`),
    name,
    schema: changed[name] ?? files.current[name],
    isInput: false,
  }));
}

const ofResult = (schemas: readonly SubjectSchema[]) =>
  schemas.filter(({ name }) => name === "result");

describe.skipIf(!backend.available)("at a schema registry", () => {
  let client: RegistryClient;
  beforeAll(() => {
    client = createRegistryClient({
      url: backend.url,
      clientId: "callgate-test",
      timeoutMs: 30_000,
    });
    return () => client.close();
  });

  const open = (schemas: readonly SubjectSchema[], register: boolean): Promise<OpenedRegistry> =>
    openRegistry({ client, schemas, readProblem, clock, register });
  const codecOf = (opened: OpenedRegistry): AvroCodec => {
    const ids = opened.ids as Readonly<Record<SchemaName, number>>;
    const wire = { ids, schemas: opened.schemas };
    return createAvroCodec({ secrets: SAMPLE_SECRETS, schemas: files, wire });
  };
  const without = (field: string) =>
    withField(files.current.result, ["CallResult", field], () => undefined);

  it("registers the schemas of processes that start at the same time once", async () => {
    for (const turn of ["first", "second", "third"]) {
      const schemas = underTest(uniqueName(`at-once-${turn}`));
      const opened = await Promise.all([1, 2, 3, 4].map(() => open(schemas, true)));
      expect(opened[0]?.ids).toHaveProperty("result");
      for (const { ids } of opened) expect(ids).toEqual(opened[0]?.ids);
    }
  });

  it("reports schemas as new, registers them under BACKWARD_TRANSITIVE, and then finds them", async () => {
    const schemas = underTest(uniqueName("topics"));
    const before = await checkSubjects(client, schemas, readProblem);
    expect(before.map(({ name, state, id, problems }) => [name, state, id, problems])).toEqual(
      SCHEMA_NAMES.map((name) => [name, "new", null, []]),
    );
    const during = await registerSubjects(client, schemas, readProblem);
    const after = await checkSubjects(client, schemas, readProblem);
    expect(after).toEqual(during);
    expect(after.map(({ state, level, problems }) => [state, level, problems])).toEqual(
      SCHEMA_NAMES.map(() => ["registered", "BACKWARD_TRANSITIVE", []]),
    );
    expect(new Set(after.map(({ id }) => id)).size).toBe(SCHEMA_NAMES.length);
    expect(await registerSubjects(client, schemas, readProblem)).toEqual(after);
  });

  it("a gate that must not register reports all missing schemas", async () => {
    const schemas = underTest(uniqueName("topics"));
    const error: unknown = await open(schemas, false).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FatalError);
    expect((error as FatalError).code).toBe("schema_incompatible");
    for (const { subject } of schemas) expect((error as FatalError).message).toContain(subject);
    await open(schemas, true);
    const { ids } = await open(schemas, false);
    expect(Object.keys(ids).sort()).toEqual([...SCHEMA_NAMES].sort());
  });

  it("encodes and decodes records of every kind in the registry's format", async () => {
    const codec = codecOf(await open(underTest(uniqueName("topics")), true));
    const journal = journalOf(SAMPLE_PROPOSAL, [ALLOWED]);
    const bytes = codec.encodeJournal(journal);
    expect(bytes[0]).toBe(0);
    expect(codec.pending?.(bytes)).toBeNull();
    expect(codec.decodeJournal(bytes)).toEqual(journal);
    const result = codec.encodeResult(SAMPLE_RESULT);
    expect(codec.decodeInput("results", result)).toEqual({ ok: true, input: SAMPLE_RESULT });
  });

  it("reads a record of an earlier version with the present schema", async () => {
    const prefix = uniqueName("topics");
    const older = await open(underTest(prefix, { result: without("cost") }), true);
    const writer = createAvroCodec({
      secrets: SAMPLE_SECRETS,
      schemas: { current: { ...files.current, result: without("cost") }, released: [] },
      wire: { ids: older.ids as never, schemas: older.schemas },
    });
    const bytes = writer.encodeResult(SAMPLE_RESULT);
    const codec = codecOf(await open(underTest(prefix), true));
    expect(() => codec.decodeInput("results", bytes)).toThrow(/was not fetched/);
    await codec.pending?.(bytes);
    expect(codec.pending?.(bytes)).toBeNull();
    expect(codec.decodeInput("results", bytes)).toEqual({
      ok: true,
      input: { ...SAMPLE_RESULT, cost: null },
    });
  });

  it("refuses a schema that cannot read an earlier version, and names the version", async () => {
    const prefix = uniqueName("topics");
    await registerSubjects(
      client,
      ofResult(underTest(prefix, { result: without("status") })),
      readProblem,
    );
    const schemas = ofResult(underTest(prefix));
    for (const ask of [checkSubjects, registerSubjects]) {
      const [report] = await ask(client, schemas, readProblem);
      expect(report).toMatchObject({ state: "refused", id: null });
      expect(report?.problems.join()).toMatch(/version 1 cannot be read.*status/);
      expect(report?.problems.join()).toContain("the registry would refuse it");
    }
    await expect(open(schemas, true)).rejects.toThrow(/schema registry does not match.*status/);
  });

  it("registers beside a foreign schema under an input subject, and notes it", async () => {
    const prefix = uniqueName("topics");
    const foreign = ofResult(underTest(prefix, { result: without("status") }));
    await registerSubjects(client, foreign, readProblem);
    const schemas = ofResult(underTest(prefix)).map((one) => ({ ...one, isInput: true }));
    const [before] = await checkSubjects(client, schemas, readProblem);
    expect(before).toMatchObject({ state: "changed", id: null, problems: [] });
    expect(before?.notes.join()).toMatch(/version 1 cannot be read: .*status.*become dead letters/);
    const [report] = await registerSubjects(client, schemas, readProblem);
    expect(report).toMatchObject({
      state: "registered",
      level: "FORWARD_TRANSITIVE",
      problems: [],
    });
    expect(report?.notes.join()).toMatch(/its latest version, 1 with id \d+, is not ours/);
    const [after] = await checkSubjects(client, schemas, readProblem);
    expect(after).toEqual(report);
    await expect(open(schemas, false)).resolves.toMatchObject({ ids: { result: report?.id } });
  });

  it("reports a compatibility level that is too weak until schemas are registered", async () => {
    const schemas = ofResult(underTest(uniqueName("topics")));
    await registerSubjects(client, schemas, readProblem);
    const [{ subject = "" } = {}] = schemas;
    await client.setLevel(subject, "NONE");
    const [report] = await checkSubjects(client, schemas, readProblem);
    expect(report?.problems.join()).toContain("its compatibility is NONE");
    const [registered] = await registerSubjects(client, schemas, readProblem);
    expect(registered).toMatchObject({ state: "registered", level: "BACKWARD_TRANSITIVE" });
  });

  it("recognizes an id that does not exist", async () => {
    const codec = codecOf(await open(underTest(uniqueName("topics")), true));
    const bytes = Buffer.from(codec.encodeResult(SAMPLE_RESULT));
    bytes.writeInt32BE(2_000_000_000, 1);
    await codec.pending?.(bytes);
    expect(codec.decodeInput("results", bytes)).toMatchObject({
      ok: false,
      message: expect.stringContaining("the schema registry has no such schema"),
    });
  });

  it("refuses an address of another server for good, and one without an answer for now", async () => {
    const other = (url: string) =>
      createRegistryClient({ url, clientId: "callgate-test", timeoutMs: 30_000 });
    const schemas = underTest(uniqueName("topics"));
    const wrong = other(`${new URL(backend.url).origin}/nothing-here`);
    const options = { schemas, readProblem, clock, register: true };
    await expect(openRegistry({ ...options, client: wrong })).rejects.toMatchObject({
      code: "registry_refused",
    });
    const unreachable = other("http://127.0.0.1:9/");
    await expect(openRegistry({ ...options, client: unreachable })).rejects.toMatchObject({
      code: "schema_unavailable",
    });
    wrong.close();
    unreachable.close();
  });
});
