/**
 * Schemas by id, fetched when a record names one. A schema is cached for ever, a missing id for a
 * while; after a failure the registry is asked again with growing pauses.
 */
import { RetryableError } from "../../runtime/errors.ts";
import type { Clock } from "../../runtime/ports.ts";
import type { RegistryClient } from "./registry-client.ts";

type SchemaLookup =
  | { readonly type: "schema"; readonly schema: unknown }
  | { readonly type: "none"; readonly why: string };

type Missing = { readonly why: string; readonly untilMs: number };
type Failed = { readonly error: Error; readonly pauseMs: number; readonly untilMs: number };

export type FetchedSchemasOptions = {
  readonly client: RegistryClient;
  readonly clock: Clock;
  /**
   * A subject that the registry had at start. While it has it, its answer "no such id" is
   * trusted.
   */
  readonly registeredSubject: string;
  /** Ids of our own schemas, which need no fetching. */
  readonly own: ReadonlyMap<number, unknown>;
};

/** How long a missing id is cached. */
const MISSING_MS = 60_000;
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 5_000;
/** Most cached missing ids, since writers of records may use any number of ids. */
const MISSING_MAX = 10_000;

export class FetchedSchemas {
  readonly #options: FetchedSchemasOptions;
  readonly #schemas: Map<number, SchemaLookup>;
  readonly #missing = new Map<number, Missing>();
  readonly #failed = new Map<number, Failed>();
  readonly #asked = new Map<number, Promise<void>>();

  constructor(options: FetchedSchemasOptions) {
    this.#options = options;
    this.#schemas = new Map(
      [...options.own].map(([id, schema]) => [id, { type: "schema", schema }] as const),
    );
  }

  lookUp(id: number): SchemaLookup | undefined {
    const schema = this.#schemas.get(id);
    if (schema !== undefined) return schema;
    const missing = this.#missing.get(id);
    return missing === undefined ? undefined : { type: "none", why: missing.why };
  }

  isFresh(id: number): boolean {
    if (this.#schemas.has(id)) return true;
    const missing = this.#missing.get(id);
    return missing !== undefined && this.#options.clock.nowMs() < missing.untilMs;
  }

  /** @throws RetryableError `schema_unavailable` */
  fetch(id: number): Promise<void> {
    const asked = this.#asked.get(id);
    if (asked !== undefined) return asked;
    const failed = this.#failed.get(id);
    const isEarly = failed !== undefined && this.#options.clock.nowMs() < failed.untilMs;
    const asking = isEarly ? Promise.reject(failed.error) : this.#ask(id);
    // A caller that only prefetches does not handle the rejection.
    asking.catch(() => undefined);
    return asking;
  }

  #ask(id: number): Promise<void> {
    const asking = this.#find(id)
      .catch((error: unknown) => this.#fail(id, error))
      .finally(() => this.#asked.delete(id));
    this.#asked.set(id, asking);
    return asking;
  }

  async #find(id: number): Promise<void> {
    const { client, registeredSubject } = this.#options;
    const registered = await client.schemaOf(id);
    // A proxy may answer 404 as well, so a subject that must exist is checked.
    if (registered === null && (await client.latest(registeredSubject)) === null) {
      throw new RetryableError(
        "schema_unavailable",
        `the schema registry has lost the subject ${registeredSubject}, so its answers on schema ids are not ` +
          "trusted: check its data and its address",
      );
    }
    this.#failed.delete(id);
    if (registered === null) {
      this.#miss(
        id,
        "the schema registry has no such schema: register it, or write with a registered one",
      );
      return;
    }
    const { schema, schemaType = "AVRO" } = registered;
    const parsed = schemaType.toUpperCase() === "AVRO" ? parseSchema(schema) : undefined;
    if (parsed === undefined) this.#miss(id, `it is not an Avro schema but ${schemaType}`);
    else {
      this.#missing.delete(id);
      this.#schemas.set(id, { type: "schema", schema: parsed });
    }
  }

  #miss(id: number, why: string): void {
    this.#missing.delete(id);
    const [oldest] = this.#missing.keys();
    if (this.#missing.size >= MISSING_MAX && oldest !== undefined) this.#missing.delete(oldest);
    this.#missing.set(id, { why, untilMs: this.#options.clock.nowMs() + MISSING_MS });
  }

  #fail(id: number, error: unknown): never {
    const before = this.#failed.get(id)?.pauseMs ?? PAUSE_MS_MIN / 2;
    const pauseMs = Math.min(before * 2, PAUSE_MS_MAX);
    const failure = error instanceof Error ? error : new Error(String(error));
    this.#failed.set(id, {
      error: failure,
      pauseMs,
      untilMs: this.#options.clock.nowMs() + pauseMs,
    });
    throw failure;
  }
}

function parseSchema(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Some registries store a schema that is a type name without quotes.
    return text;
  }
}
