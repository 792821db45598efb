// Schemas of other writers, fetched from a registry that is healthy, down, hung, emptied, or no registry.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FetchedSchemas } from "../../../services/adapters/registry/fetched-schemas.ts";
import {
  createRegistryClient,
  type RegistryClient,
} from "../../../services/adapters/registry/registry-client.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import { type StubMood, StubRegistry } from "../../support/registry/stub-registry.ts";
import { TestClock } from "../../support/runtime-kit.ts";

describe("schemas by id", () => {
  let registry: StubRegistry;
  let client: RegistryClient;
  let clock: TestClock;
  let schemas: FetchedSchemas;

  beforeEach(async () => {
    registry = new StubRegistry();
    registry.schemas.set(7, '{"type":"string"}');
    await registry.start();
    const { url } = registry;
    client = createRegistryClient({ url, clientId: "callgate-test", timeoutMs: 2_000 });
    clock = new TestClock();
    const own = new Map([[1, "long"]]);
    schemas = new FetchedSchemas({ client, clock, registeredSubject: "proposals-value", own });
  });
  afterEach(async () => {
    client.close();
    await registry.stop();
  });

  const failure = async (id: number): Promise<RetryableError> => {
    const error: unknown = await schemas.fetch(id).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(RetryableError);
    expect((error as RetryableError).code).toBe("schema_unavailable");
    return error as RetryableError;
  };

  it("of our own need no request", () => {
    expect(schemas.isFresh(1)).toBe(true);
    expect(schemas.lookUp(1)).toEqual({ type: "schema", schema: "long" });
    expect(registry.asked).toEqual([]);
  });

  it("are fetched once for all waiting callers, and cached for ever", async () => {
    expect([schemas.isFresh(7), schemas.lookUp(7)]).toEqual([false, undefined]);
    await Promise.all([schemas.fetch(7), schemas.fetch(7)]);
    expect(schemas.lookUp(7)).toEqual({ type: "schema", schema: { type: "string" } });
    clock.advance(365 * 86_400_000);
    expect(schemas.isFresh(7)).toBe(true);
    expect(registry.askedFor(7)).toBe(1);
  });

  it("that are missing are cached as missing for a while", async () => {
    await schemas.fetch(8);
    expect(schemas.lookUp(8)).toMatchObject({ type: "none" });
    expect(schemas.isFresh(8)).toBe(true);
    clock.advance(60_001);
    expect(schemas.isFresh(8)).toBe(false);
    registry.schemas.set(8, '"long"');
    await schemas.fetch(8);
    expect(schemas.lookUp(8)).toEqual({ type: "schema", schema: "long" });
    expect(registry.askedFor(8)).toBe(2);
  });

  it.each<StubMood>(["silent", "broken", "failing", "empty", "page"])(
    "fail with a registry that is %s, and are fetched later",
    async (mood) => {
      registry.mood = mood;
      await failure(8);
      await failure(7);
      expect([schemas.lookUp(7), schemas.lookUp(8)]).toEqual([undefined, undefined]);
      registry.mood = "well";
      clock.advance(5_000);
      await schemas.fetch(7);
      expect(schemas.lookUp(7)).toEqual({ type: "schema", schema: { type: "string" } });
    },
  );

  it("fail with a registry that is down, and are not requested again at once", async () => {
    await registry.stop();
    const error = await failure(7);
    expect(error.message).toContain(registry.url);
    await registry.start();
    await failure(7);
    expect(registry.asked).toEqual([]);
    clock.advance(250);
    await schemas.fetch(7);
    expect(registry.askedFor(7)).toBe(1);
  });

  it("are requested again after growing pauses, up to a limit", async () => {
    registry.mood = "failing";
    const pauses = [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000];
    for (const [index, pauseMs] of pauses.entries()) {
      await failure(7);
      clock.advance(pauseMs - 1);
      await failure(7);
      expect(registry.askedFor(7)).toBe(index + 1);
      clock.advance(1);
    }
  });

  it("that no caller waits for cause no unhandled rejection", async () => {
    registry.mood = "failing";
    void schemas.fetch(7);
    await new Promise((resolve) => setTimeout(resolve, 50));
    void schemas.fetch(7);
    await failure(7);
  });

  it("are reported without credentials", async () => {
    await registry.stop();
    const url = registry.url.replace("http://", "http://somebody:s3cret@");
    const other = createRegistryClient({ url, clientId: "callgate-test", timeoutMs: 2_000 });
    const error: unknown = await other.schemaOf(7).catch((reason: unknown) => reason);
    const { message, context, cause, stack } = error as RetryableError;
    expect(JSON.stringify({ message, context, cause, stack })).not.toContain("s3cret");
    other.close();
    await registry.start();
  });
});
