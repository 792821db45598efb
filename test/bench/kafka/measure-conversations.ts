// Many conversations on Kafka: what the gate with its state store takes, beside Kafka Streams with RocksDB,
// both on the same records.
import { join } from "node:path";
import { STATE_MEMORY_MIB } from "./bench-gate.ts";
import { measureSystems } from "./measure-shared.ts";
import type { PartResult } from "./part-result.ts";
import type { SharedBench } from "./shared-bench.ts";

const CONVERSATIONS = 60_000;
const CALLS_EACH = 5;
const PARTITIONS = 4;
const SYSTEMS = [
  { spec: "cmd:gate", name: "gate with its state store" },
  { spec: "streams:20:rocksdb", name: "Kafka Streams with RocksDB" },
];
/** A gate that reads and writes a conversation with nearly every call decides about 2,500 a second. */
const TIMEOUT_S = 240;
/** As much for Java's heap as the gate has for conversations. */
const HEAP = `-Xms${STATE_MEMORY_MIB}m -Xmx${STATE_MEMORY_MIB}m -XX:+UseSerialGC`;

export async function measureConversations(bench: SharedBench): Promise<PartResult> {
  const result = await measureSystems(bench, SYSTEMS, {
    ...{ N: String(CONVERSATIONS * CALLS_EACH), CONVERSATIONS: String(CONVERSATIONS) },
    ...{ PARTITIONS: String(PARTITIONS), JAVA_OPTS: HEAP },
    ...{ STATE_DIRECTORY: join(bench.work, "states"), TIMEOUT_S: String(TIMEOUT_S) },
  });
  const note = `${CONVERSATIONS.toLocaleString("en-US")} conversations of ${CALLS_EACH} calls`;
  const rows = result.rows.map((row) => ({
    ...row,
    name: `many conversations, ${row.name}`,
    note: row.note === undefined ? note : `${note}, ${row.note}`,
  }));
  return { ...result, rows };
}
