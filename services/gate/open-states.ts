/** Opens the directory where a gate on Kafka has the conversations that do not fit into memory. */
import type { Config } from "../adapters/config/config-schema.ts";
import { lockDirectory } from "../adapters/files/lock-directory.ts";
import { LmdbStateStore } from "../adapters/lmdb/lmdb-state-store.ts";
import { defaultStateMemory } from "../adapters/system/state-memory.ts";
import type { Clock } from "../runtime/ports.ts";
import type { GateStates } from "./gate-host.ts";

export type OpenedStates = GateStates & { close(): Promise<void> };

/**
 * Null where none is configured.
 * @throws PipelineError: the directory cannot be used, or another process has it (`role_taken`).
 */
export async function openStates(
  { directory, memoryBytes = defaultStateMemory() }: Config["state"],
  clock: Clock,
): Promise<OpenedStates | null> {
  if (directory === undefined) return null;
  const lock = await lockDirectory(directory, "gate", clock);
  try {
    const store = new LmdbStateStore(directory, () => lock.check());
    const close = async (): Promise<void> => {
      await store.close();
      lock.release();
    };
    return { store, memoryBytes, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}
