// A partition whose next input has a schema that is not available now.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FetchedSchemas } from "../../../services/adapters/registry/fetched-schemas.ts";
import {
  createRegistryClient,
  type RegistryClient,
} from "../../../services/adapters/registry/registry-client.ts";
import type { InputTopic } from "../../../services/runtime/topics.ts";
import { type AvroCodec, createAvroCodec } from "../../../services/wire/codec.ts";
import { wirePrefix } from "../../../services/wire/framing.ts";
import { readSchemaFiles, SCHEMA_NAMES } from "../../../services/wire/schema-files.ts";
import { StubRegistry } from "../../support/registry/stub-registry.ts";
import { RuntimeKit, until } from "../../support/runtime-kit.ts";
import { SAMPLE_SECRETS } from "../../support/wire/samples.ts";

const files = readSchemaFiles();
const OTHERS_ID = 500;

describe("a partition with a schema registry", () => {
  let registry: StubRegistry;
  let client: RegistryClient;
  let kit: RuntimeKit;
  let codec: AvroCodec;

  /** Our own schemas have the first ids. */
  const openCodec = (firstId: number): AvroCodec => {
    const entries = SCHEMA_NAMES.map((name, index) => [name, firstId + index] as const);
    const own = new Map(entries.map(([name, id]) => [id, files.current[name]]));
    const schemas = new FetchedSchemas({ client, clock: kit.clock, registeredSubject: "s", own });
    const ids = Object.fromEntries(entries) as Record<(typeof SCHEMA_NAMES)[number], number>;
    return createAvroCodec({ secrets: SAMPLE_SECRETS, schemas: files, wire: { ids, schemas } });
  };

  beforeEach(async () => {
    registry = new StubRegistry();
    registry.schemas.set(OTHERS_ID, JSON.stringify(files.current["proposed-call"]));
    await registry.start();
    const { url } = registry;
    client = createRegistryClient({ url, clientId: "callgate-test", timeoutMs: 2_000 });
    kit = new RuntimeKit();
    codec = openCodec(10);
  });
  afterEach(async () => {
    await kit.close();
    client.close();
    await registry.stop();
  });

  const append = (topic: InputTopic, value: Uint8Array) =>
    kit.log.append([{ topic, partition: 0, key: "t/c", value }]);
  const propose = (id?: number) => {
    const value = Buffer.from(codec.encodeProposal(kit.proposal()));
    if (id !== undefined) wirePrefix(id).copy(value);
    return append("proposals", value);
  };
  const count = (topic: "decisions" | "deadLetters") => kit.log.endOffset(topic, 0);
  const inputs = async () =>
    (await kit.values("decisions")).map((value) => {
      const { input } = codec.decodeJournal(value ?? Buffer.alloc(0));
      return input.type;
    });

  it("decides earlier inputs, waits, and goes on when the registry answers", async () => {
    registry.mood = "failing";
    await propose();
    await propose(OTHERS_ID);
    await propose();
    const task = kit.start({ context: { codec } });
    await until(async () => (await count("decisions")) === 1);
    await until(() => task.status.error?.code === "schema_unavailable");
    expect(task.status).toMatchObject({ state: "suspended", detail: "restoring" });
    registry.mood = "well";
    const clocking = setInterval(() => kit.clock.advance(1_000), 5);
    await until(async () => (await count("decisions")) === 3);
    clearInterval(clocking);
    expect(await inputs()).toEqual(["decided", "decided", "decided"]);
    expect(await count("deadLetters")).toBe(0);
  });

  it("asks a registry that is down after pauses only", async () => {
    registry.mood = "failing";
    await propose(OTHERS_ID);
    kit.start({ context: { codec } });
    await until(() => registry.askedFor(OTHERS_ID) === 1);
    const tries = () => kit.lines.filter((line) => line.fields["code"] === "schema_unavailable");
    await until(() => tries().length > 20);
    expect(registry.askedFor(OTHERS_ID)).toBe(1);
    expect(await count("decisions")).toBe(0);
  });

  it("sends records without a schema, or with a foreign one, to the dead letters", async () => {
    registry.schemas.set(OTHERS_ID + 1, '{"type":"record","name":"n.Other","fields":[]}');
    registry.schemas.set(OTHERS_ID + 2, "no schema at all");
    await propose(OTHERS_ID + 9);
    await propose(OTHERS_ID + 1);
    await propose(OTHERS_ID + 2);
    await append("proposals", Buffer.from([0, 0, 0]));
    await append("results", wirePrefix(OTHERS_ID));
    await propose();
    kit.start({ context: { codec } });
    await until(async () => (await count("decisions")) === 6);
    expect((await inputs()).filter((type) => type === "quarantined")).toHaveLength(5);
    const letters = (await kit.values("deadLetters")).map((value) =>
      codec.decodeDeadLetter(value ?? Buffer.alloc(0)),
    );
    expect(letters.map(({ message }) => message).sort()).toEqual(
      [
        "cut short in its schema id",
        expect.stringContaining("schema id 509: the schema registry has no such schema"),
        expect.stringContaining("schema id 500 cannot be read as result"),
        expect.stringContaining("schema id 501 cannot be read as proposed-call"),
        expect.stringContaining("schema id 502 cannot be read as proposed-call"),
      ].map((message) => message),
    );
  });

  it("accepts JSON, single-object encoding and the registry's format side by side", async () => {
    const plain = createAvroCodec({ secrets: SAMPLE_SECRETS, schemas: files });
    const { tenantId, conversationId, callId, tool } = kit.proposal();
    const json = { tenantId, conversationId, callId, tool, arguments: { order: 1 } };
    await append("proposals", Buffer.from(JSON.stringify(json)));
    await append("proposals", plain.encodeProposal(kit.proposal()));
    await propose();
    await propose(OTHERS_ID);
    kit.start({ context: { codec } });
    await until(async () => (await count("decisions")) === 4);
    expect(await inputs()).toEqual(["decided", "decided", "decided", "decided"]);
  });

  it("delays its restore for a schema of its journal", async () => {
    await propose();
    const first = kit.start({ context: { codec }, checkpoints: null });
    await until(async () => (await count("decisions")) === 1);
    await first.close();
    registry.mood = "silent";
    const second = kit.start({ context: { codec: openCodec(90) }, checkpoints: null });
    await until(() => second.status.error?.code === "schema_unavailable");
    registry.mood = "well";
    registry.schemas.set(13, JSON.stringify(files.current["decision-event"]));
    const clocking = setInterval(() => kit.clock.advance(1_000), 5);
    await until(() => second.status.state === "running");
    clearInterval(clocking);
  });
});
