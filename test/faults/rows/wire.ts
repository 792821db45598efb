// Connections that break at the worst moment, and late answers.
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../../support/kafka-proxy/wire.ts";
import type { Row } from "../lab/row.ts";

export const commitUnanswered: Row = {
  name: "cut after EndTxn",
  about: "the broker commits, the connection is cut before its answer",
  inShort: true,
  faultsMin: (short) => (short ? 3 : 15),
  inTransactionMin: (short) => (short ? 3 : 15),
  run: async ({ open, short }) => {
    const lab = await open();
    await lab.startGate();
    await lab.load.start();
    await sleep(1_500);
    for (let cut = 0; cut < (short ? 3 : 15); cut += 1) {
      const { struck } = lab.proxy.arm({ api: "EndTxn", deed: { type: "cut-after" } });
      await lab.struck(struck);
      await lab.recover(Date.now(), true);
    }
    return lab;
  },
};

const SLOW: readonly Api[] = ["Produce", "EndTxn", "TxnOffsetCommit", "AddPartitionsToTxn"];

export const answersDelayed: Row = {
  name: "answers too late",
  about: "held back beyond the request time-out, one request of each kind",
  inShort: false,
  faultsMin: () => SLOW.length,
  inTransactionMin: () => SLOW.length,
  run: async ({ open }) => {
    const lab = await open({ kafka: { requestTimeoutMs: 2_000 } });
    await lab.startGate();
    await lab.load.start();
    await sleep(1_500);
    for (const api of SLOW) {
      const { struck } = lab.proxy.arm({ api, deed: { type: "hold", until: sleep(5_000) } });
      await lab.struck(struck);
      await lab.recover(Date.now(), true);
      await sleep(4_000);
    }
    return lab;
  },
};
