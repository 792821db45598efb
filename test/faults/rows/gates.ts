// Gates that die, stall, join and leave.
import { setTimeout as sleep } from "node:timers/promises";
import type { Lab } from "../lab/lab.ts";
import type { Row } from "../lab/row.ts";

/** Longer than a session (6 s), so that another takes over. */
const PAUSE_MS = 9_000;

export const gateKilled: Row = {
  name: "gate kill -9",
  about: "under load, at random and inside an open transaction; another is started at once",
  inShort: true,
  faultsMin: (short) => (short ? 3 : 20),
  inTransactionMin: (short) => (short ? 1 : 5),
  gapMaxMs: 60_000,
  withinSeconds: 600,
  run: async ({ open, short }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(1_500);
    const kills = short ? 3 : 20;
    for (let kill = 0; kill < kills; kill += 1) {
      const inside = kill % 3 === 0;
      await killOne(lab, inside);
      await sleep(200 + ((kill * 377) % 900));
    }
    return lab;
  },
};

async function killOne(lab: Lab, inside: boolean): Promise<void> {
  const gate = lab.gates.at(-1);
  if (inside) {
    // The end of a transaction does not reach the broker, and the process dies at that moment.
    const { struck } = lab.proxy.arm({ api: "EndTxn", deed: { type: "cut-before" } });
    await lab.struck(struck);
  }
  const struckAtMs = Date.now();
  await gate?.kill();
  lab.beginGate();
  await lab.recover(struckAtMs, inside);
}

export const gatePaused: Row = {
  name: "gate stopped, then continued",
  about: "SIGSTOP beyond the session, another takes over, SIGCONT: the first is fenced",
  inShort: false,
  faultsMin: (short) => (short ? 1 : 4),
  run: async ({ open, short }) => {
    const lab = await open();
    await lab.startGate();
    await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    for (let round = 0; round < (short ? 1 : 4); round += 1) {
      const paused = lab.gates[round % 2];
      const struckAtMs = Date.now();
      paused?.signal("SIGSTOP");
      await lab.recover(struckAtMs);
      await sleep(Math.max(0, struckAtMs + PAUSE_MS - Date.now()));
      paused?.signal("SIGCONT");
      await sleep(3_000);
    }
    return lab;
  },
};

export const gatesComeAndGo: Row = {
  name: "one gate, three, two, one",
  about: "they join and leave the group in order while the load runs",
  inShort: true,
  faultsMin: () => 4,
  run: async ({ open }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(1_000);
    for (let more = 0; more < 2; more += 1) {
      const struckAtMs = Date.now();
      await lab.startGate();
      await lab.recover(struckAtMs);
    }
    for (const gate of lab.gates.slice(0, 2)) {
      const struckAtMs = Date.now();
      const code = await gate.stop();
      if (code !== 0) throw new Error(`a gate that was asked to end ended with ${code}`);
      await lab.recover(struckAtMs);
    }
    return lab;
  },
};
