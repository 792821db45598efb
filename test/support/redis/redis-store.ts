// Opens a checkpoint store on a server, with a header and blobs for it.
import { RedisCheckpoints } from "../../../services/adapters/redis/redis-checkpoints.ts";
import {
  RedisClient,
  type RedisOptions,
  type RedisServer,
} from "../../../services/adapters/redis/redis-client.ts";
import type { RedisScope } from "../../../services/adapters/redis/redis-scope.ts";
import type {
  CheckpointBlob,
  CheckpointHeader,
  CheckpointUpdate,
} from "../../../services/runtime/ports.ts";
import { createTestLogger, type LoggedLine } from "../runtime-kit.ts";

export type OpenedStore = {
  readonly store: RedisCheckpoints;
  readonly lines: readonly LoggedLine[];
  close(): void;
};

const closing: (() => void)[] = [];

export function openStore(
  server: RedisServer | string,
  options: Partial<RedisOptions> & { readonly group?: string } = {},
): OpenedStore {
  const lines: LoggedLine[] = [];
  const { group = "gate", ...rest } = options;
  const client = new RedisClient(
    {
      server: typeof server === "string" ? { type: "single", url: server } : server,
      clientName: "callgate-test",
      commandTimeoutMs: 10_000,
      connectTimeoutMs: 5_000,
      ...rest,
    },
    createTestLogger(lines),
  );
  closing.push(() => client.close());
  const store = new RedisCheckpoints({ client, scope: testScope(group), loadMsMax: 60_000 });
  return { store, lines, close: () => client.close() };
}

/** Closes clients in `afterEach`, since an open client would reconnect for ever. */
export function closeStores(): void {
  for (const close of closing.splice(0)) close();
}

const POSITION = { proposals: 1, results: 2, verdicts: 3 };

export function headerAt(offset: number): CheckpointHeader {
  return {
    clusterId: "cluster",
    topicId: "topic",
    schemaVersion: 1,
    journalOffset: offset,
    seq: offset,
    chainHead: "ab".repeat(32),
    next: POSITION,
    ahead: { proposals: [[4, 6]], results: [], verdicts: [] },
    clocks: POSITION,
    latestMs: 7,
    journalTimeMs: 8,
    anchor: null,
  };
}

export function blobAt(key: string, seq: number, bytes = 16): CheckpointBlob {
  const digest = seq.toString(16).padStart(64, "f");
  return { key, seq, hash: "cd".repeat(32), digest, bytes: Buffer.alloc(bytes, key) };
}

export function blobsAt(count: number, seq: number, bytes = 16): CheckpointBlob[] {
  return Array.from({ length: count }, (_, index) => blobAt(`t/${index}`, seq, bytes));
}

export function updateTo(
  offset: number,
  upserts: readonly CheckpointBlob[],
  rest: Partial<CheckpointUpdate> = {},
): CheckpointUpdate {
  return { header: headerAt(offset), replace: false, upserts, removals: [], ...rest };
}

/** What a store gives back, small enough to compare. */
export async function heldBy(store: RedisCheckpoints): Promise<{
  readonly offset: number | undefined;
  readonly seqs: Readonly<Record<string, number>>;
  readonly problem: string | null;
}> {
  const { checkpoint, problem } = await store.load(0);
  const seqs = Object.fromEntries((checkpoint?.blobs ?? []).map(({ key, seq }) => [key, seq]));
  return { offset: checkpoint?.header.journalOffset, seqs, problem };
}

/** The journal that the tests' checkpoints are about. */
export function testScope(group: string): RedisScope {
  return { clusterId: "cluster", topic: "decisions", group };
}
