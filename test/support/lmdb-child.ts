// A separate process on a data directory: `lmdb-child.ts MODE DATA_DIR [COUNT]`. It prints one JSON line when
// it is ready or done, and one for each acknowledged batch.
import { Environment } from "../../services/adapters/lmdb/environment.ts";
import { acquireGateRole } from "../../services/adapters/lmdb/gate-role.ts";
import { LmdbLog } from "../../services/adapters/lmdb/lmdb-log.ts";
import type { OutgoingRecord } from "../../services/runtime/ports.ts";

const [mode = "", dataDir = "", count = "0"] = process.argv.slice(2);

function print(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function record(topic: OutgoingRecord["topic"], text: string): OutgoingRecord {
  return { topic, partition: 0, key: "t/c", value: Buffer.from(text) };
}

function open(): { readonly environment: Environment; readonly log: LmdbLog } {
  const environment = new Environment({ dataDir, newId: () => "child" });
  return { environment, log: new LmdbLog(environment, Date.now) };
}

/** Appends one record at a time, so that several processes meet at every offset. */
async function append(): Promise<void> {
  const { log } = open();
  for (let i = 0; i < Number(count); i += 1) {
    const [appended] = await log.append([record("proposals", `${process.pid}/${i}`)]);
    print(appended);
  }
  await log.close();
}

/** Takes the gate role and holds it until the process is killed. */
function hold(): void {
  const { environment, log } = open();
  acquireGateRole(environment, log, `child ${process.pid}`);
  print({ pid: process.pid });
  setInterval(() => undefined, 1_000);
}

/** Commits batches to three topics until it is killed; prints acknowledged ones. */
async function commit(): Promise<void> {
  const { environment, log } = open();
  const writer = await acquireGateRole(environment, log, `child ${process.pid}`).takeOver(0);
  for (let batch = 1; ; batch += 1) {
    const text = JSON.stringify({ batch, padding: "x".repeat(500) });
    const records = (["decisions", "allowed", "decisions", "refused"] as const).map((topic) =>
      record(topic, text),
    );
    const consumed = { proposals: batch, results: 0, verdicts: 0 };
    const outcome = await writer.commit({ records, consumed });
    print({ batch, outcome: outcome.type });
  }
}

async function main(): Promise<void> {
  if (mode === "append") await append();
  if (mode === "hold") hold();
  if (mode === "commit") await commit();
  if (mode === "open") open();
}

main().catch((error: unknown) => {
  print({ error: error instanceof Error ? error.message : String(error) });
  process.exitCode = 3;
});
