// Kills a server with a gate in its process again and again while clients use it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openLog } from "../../../services/process/directory/open-log.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import { verifyJournal } from "../../../services/runtime/verify.ts";
import { PAY_POLICY } from "../numbered-calls.js";
import { RetryingClients } from "./retrying-clients.ts";
import { makeToken, ServeProcess } from "./serve-process.ts";

const CLIENTS = 16;
/** A life of the server: some answers, and at most so much longer. */
const ANSWERS_PER_LIFE = 20;
const LIFE_MS_MAX = 500;

export type KilledRun = {
  readonly calls: number;
  readonly outcomes: Readonly<Record<"allowed" | "refused" | "held", number>>;
  readonly kills: number;
  readonly retries: number;
  readonly lost: number;
  readonly doubled: number;
  readonly worstGapMs: number;
  /** Empty: nothing was lost, and nothing doubled. */
  readonly problems: readonly string[];
};

export async function killEmbedded(kills: number): Promise<KilledRun> {
  const directory = mkdtempSync(join(tmpdir(), "callgate-killed-"));
  const policy = JSON.stringify({
    ...PAY_POLICY,
    authorization: { tiers: [{ ...PAY_POLICY.authorization.tiers[0], expires_ms: 3_600_000 }] },
  });
  writeFileSync(join(directory, "policy.yaml"), policy);
  // Without a limit of requests: the clients are as fast as they can.
  const config = join(directory, "config.yaml");
  writeFileSync(config, "serve: { requestsPerSecond: 1000000 }\n");
  const token = makeToken(join(directory, "data"), ["propose"], { platform: true });
  const start = () =>
    ServeProcess.start({ policy, directory, args: ["--config", config], embedded: true });
  let server = await start();
  const clients = new RetryingClients(() => [server.url], token);
  const running = clients.run(CLIENTS);
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const { size } = clients.answers;
      while (clients.answers.size < size + ANSWERS_PER_LIFE) {
        await Promise.race([sleep(5), running]);
      }
      await Promise.race([sleep(Math.random() * LIFE_MS_MAX), running]);
      await server.kill();
      server = await start();
    }
    clients.end();
    await running;
    const { lost, doubled } = await clients.check();
    await server.kill();
    const journal = await readDecisions(join(directory, "data"));
    const problems = [...clients.problems, ...journal.problems];
    for (const [number, { decisionId }] of clients.answers) {
      if (journal.decisions.get(decisionId) === 1) continue;
      problems.push(`call ${number}: decided ${journal.decisions.get(decisionId) ?? 0} times`);
    }
    const { retries, worstGapMs } = clients;
    const count = (outcome: string) =>
      [...clients.answers.values()].filter((answer) => answer.outcome === outcome).length;
    const outcomes = { allowed: count("allowed"), refused: count("refused"), held: count("held") };
    return {
      calls: clients.answers.size,
      outcomes,
      kills,
      retries,
      lost,
      doubled,
      worstGapMs,
      problems,
    };
  } finally {
    clients.end();
    await server.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** How often each call was decided, by the journal; `held` and what ends it are one. */
async function readDecisions(dataDir: string) {
  const { log, codec, close } = openLog(dataDir);
  const decisions = new Map<string, number>();
  const limits = { recordsMax: 10_000, bytesMax: 100_000_000 };
  for (let offset = 0; ; ) {
    const { records } = await log.read("decisions", 0, offset, limits);
    if (records.length === 0) break;
    for (const { value } of records) {
      for (const event of codec.decodeJournal(value ?? new Uint8Array()).events) {
        const { type } = event;
        if (type !== "allowed" && type !== "refused" && type !== "held") continue;
        decisions.set(event.decisionId, (decisions.get(event.decisionId) ?? 0) + 1);
      }
    }
    offset += records.length;
  }
  const { problems } = await verifyJournal({ log, codec, fold: coreFold, journalSpanMs: 0 }, 0);
  await close();
  return { decisions, problems: problems.map((problem) => JSON.stringify(problem)) };
}
