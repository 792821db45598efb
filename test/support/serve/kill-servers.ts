// Kills servers again and again while clients use them.
import { setTimeout as sleep } from "node:timers/promises";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { RetryingClients } from "./retrying-clients.ts";
import type { ServeProcess } from "./serve-process.ts";

const CLIENTS = 16;
/** A life of a server: some answers, and at most so much longer. */
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

export type KillOptions = {
  readonly kills: number;
  /** How many servers run side by side. */
  readonly servers: number;
  /** May propose any call, and report its result. */
  readonly token: string;
  start(server: number): Promise<ServeProcess>;
  /** How often each decision is in the journal, by decision id; called when all servers have ended. */
  readDecisions(): Promise<Decided>;
};

export type Decided = {
  readonly decisions: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
};

export async function killServers(options: KillOptions): Promise<KilledRun> {
  const { kills, token, start } = options;
  const servers = await Promise.all(Array.from({ length: options.servers }, (_, at) => start(at)));
  const clients = new RetryingClients(() => servers.map(({ url }) => url), token);
  const running = clients.run(CLIENTS);
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const { size } = clients.answers;
      while (clients.answers.size < size + ANSWERS_PER_LIFE) {
        await Promise.race([sleep(5), running]);
      }
      await Promise.race([sleep(Math.random() * LIFE_MS_MAX), running]);
      const at = kill % servers.length;
      await servers[at]?.kill();
      servers[at] = await start(at);
    }
    clients.end();
    await running;
    const { lost, doubled } = await clients.check();
    await Promise.all(servers.map((server) => server.kill()));
    const problems = [...clients.problems, ...problemsOf(clients, await options.readDecisions())];
    return { ...countAnswers(clients), kills, lost, doubled, problems };
  } finally {
    clients.end();
    await Promise.all(servers.map((server) => server.kill()));
  }
}

function problemsOf({ answers }: RetryingClients, { decisions, problems }: Decided): string[] {
  const all = [...problems];
  for (const [number, { decisionId }] of answers) {
    if (decisions.get(decisionId) === 1) continue;
    all.push(`call ${number}: decided ${decisions.get(decisionId) ?? 0} times`);
  }
  return all;
}

function countAnswers({ answers, retries, worstGapMs }: RetryingClients) {
  const count = (outcome: string) =>
    [...answers.values()].filter((answer) => answer.outcome === outcome).length;
  const outcomes = { allowed: count("allowed"), refused: count("refused"), held: count("held") };
  return { calls: answers.size, outcomes, retries, worstGapMs };
}

/** How often each call was decided; `held` and what ends it are one. */
export function countDecisions(
  records: readonly JournalRecord[],
  decisions: Map<string, number>,
): void {
  for (const { events } of records) {
    for (const event of events) {
      const { type } = event;
      if (type !== "allowed" && type !== "refused" && type !== "held") continue;
      decisions.set(event.decisionId, (decisions.get(event.decisionId) ?? 0) + 1);
    }
  }
}
