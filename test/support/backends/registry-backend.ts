import { askForPart } from "./backend.ts";

export type RegistryBackend = {
  readonly available: boolean;
  /** The root of an API like that of Confluent's registry. Use it only when `available`. */
  readonly url: string;
  /** Why it is not available; empty when it is. */
  readonly reason: string;
};

/**
 * The schema registry of this run, shared by all its tests: begin subjects with `uniqueName`.
 * Throws when it is absent but required.
 */
export async function registryBackend(): Promise<RegistryBackend> {
  const { available, address, reason } = await askForPart("registry");
  return { available, url: address, reason };
}
