// Kills a server with a gate in its process again and again while clients use it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLog } from "../../../services/process/directory/open-log.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import { verifyJournal } from "../../../services/runtime/verify.ts";
import { PAY_POLICY } from "../numbered-calls.js";
import { countDecisions, type Decided, type KilledRun, killServers } from "./kill-servers.ts";
import { makeToken, ServeProcess } from "./serve-process.ts";

/** Held calls wait longer than a run. */
export const KILLED_POLICY = JSON.stringify({
  ...PAY_POLICY,
  authorization: { tiers: [{ ...PAY_POLICY.authorization.tiers[0], expires_ms: 3_600_000 }] },
});
/** Without a limit of requests: the clients are as fast as they can. */
export const UNLIMITED = { requestsPerSecond: 1_000_000 };

export async function killEmbedded(kills: number): Promise<KilledRun> {
  const directory = mkdtempSync(join(tmpdir(), "callgate-killed-"));
  const policy = KILLED_POLICY;
  writeFileSync(join(directory, "policy.yaml"), policy);
  const config = join(directory, "config.json");
  writeFileSync(config, JSON.stringify({ serve: UNLIMITED }));
  const dataDir = join(directory, "data");
  try {
    return await killServers({
      ...{ kills, servers: 1 },
      token: makeToken(dataDir, ["propose"], { platform: true }),
      start: () =>
        ServeProcess.start({ policy, directory, args: ["--config", config], embedded: true }),
      readDecisions: () => readDecisions(dataDir),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The decisions of a directory that nobody has open, and the problems of its journal. */
export async function readDecisions(dataDir: string): Promise<Decided> {
  const { log, codec, close } = openLog(dataDir);
  const decisions = new Map<string, number>();
  const limits = { recordsMax: 10_000, bytesMax: 100_000_000 };
  for (let offset = 0; ; ) {
    const { records } = await log.read("decisions", 0, offset, limits);
    if (records.length === 0) break;
    const decoded = records.map(({ value }) => codec.decodeJournal(value ?? new Uint8Array()));
    countDecisions(decoded, decisions);
    offset += records.length;
  }
  const { problems } = await verifyJournal({ log, codec, fold: coreFold, journalSpanMs: 0 }, 0);
  await close();
  return { decisions, problems: problems.map((problem) => JSON.stringify(problem)) };
}
