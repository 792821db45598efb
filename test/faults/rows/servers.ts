// HTTP servers that are killed while clients use them.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { floodEmbedded } from "../../support/serve/flood-embedded.ts";
import { KILLED_POLICY, killEmbedded, UNLIMITED } from "../../support/serve/kill-embedded.ts";
import { countDecisions, type KilledRun, killServers } from "../../support/serve/kill-servers.ts";
import { makeToken, ServeProcess } from "../../support/serve/serve-process.ts";
import type { Row, Run } from "../lab/row.ts";

const KILLS = 50;
const FLOODED_LIVES = 4;
const TOKENS = "access";

export const serverKilled: Row = {
  name: "`callgate serve` killed",
  about: "16 clients send unanswered calls again: every answer stays, no effect happens twice",
  // The e2e tests have the short form, with 5 kills.
  inShort: false,
  faultsMin: () => KILLS,
  withinSeconds: 900,
  run: async () => judged(await killEmbedded(KILLS)),
};

export const conversationsInvented: Row = {
  name: "conversations invented",
  about:
    "more than the heap of `callgate serve` holds, killed between: it comes back with all of them",
  inShort: false,
  faultsMin: () => FLOODED_LIVES,
  withinSeconds: 900,
  run: async () => judged(await floodEmbedded(FLOODED_LIVES)),
};

export const serversOnKafkaKilled: Row = {
  name: "two `callgate serve` on Kafka killed",
  about: "in turn, before one gate, under the same 16 clients: the same",
  inShort: false,
  faultsMin: () => KILLS,
  withinSeconds: 900,
  run: async ({ open }) => {
    const lab = await open({ policy: KILLED_POLICY });
    const { directory } = lab;
    await lab.startGate();
    mkdirSync(join(directory, TOKENS));
    const token = makeToken(join(directory, TOKENS), ["propose"], { platform: true });
    const config = lab.writeConfig("server.json", { serve: { directory: TOKENS, ...UNLIMITED } });
    const run = await killServers({
      ...{ kills: KILLS, servers: 2, token },
      start: () => ServeProcess.start({ policy: "", directory, args: ["--config", config] }),
      readDecisions: async () => {
        const decisions = new Map<string, number>();
        for (const records of await lab.journals()) countDecisions(records, decisions);
        return { decisions, problems: [] };
      },
    });
    return judged(run, () => lab.logs());
  },
};

function judged(run: KilledRun, logs = () => ""): Run {
  const { kills, calls, outcomes, lost, doubled, worstGapMs, problems } = run;
  const between = { calls, problems: [] };
  const verdict = { calls, ...outcomes, lost, doubled, problems, between };
  return { ...{ faults: kills, inTransaction: 0, worstGapMs }, finish: async () => verdict, logs };
}
