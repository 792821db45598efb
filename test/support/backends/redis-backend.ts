import { askForPart } from "./backend.ts";

export type RedisBackend = {
  readonly available: boolean;
  /** `redis://…`. Use it only when `available`. */
  readonly url: string;
  /** Why it is not available; empty when it is. */
  readonly reason: string;
};

/**
 * The Redis of this run, shared by all its tests: begin keys with `uniqueName`, and flush nothing.
 * Throws when it is absent but required.
 */
export async function redisBackend(): Promise<RedisBackend> {
  const { available, address, reason } = await askForPart("redis");
  return { available, url: address, reason };
}
