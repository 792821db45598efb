// Executors that die during calls, producers that send twice, agents that retry at once, topics
// that grow.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectCallgate } from "../../../services/library/callgate.ts";
import { connectKafka } from "../../support/kafka/test-cluster.ts";
import { findWrongReports, listRuns } from "../lab/executor-runs.ts";
import type { Row } from "../lab/row.ts";

/** Handlers write into a file when a call begins and ends. */
const HANDLERS = `
import { appendFileSync } from "node:fs";
const work = async (args, { decisionId }) => {
  appendFileSync("ran.txt", "begin " + decisionId + "\\n");
  await new Promise((resolve) => setTimeout(resolve, 300));
  appendFileSync("ran.txt", "end " + decisionId + "\\n");
  return "done";
};
export const get_item = work;
export const add_item = work;
export const pay_order = work;
export const remove_item = work;
`;

export const executorKilled: Row = {
  name: "executor kill -9",
  about: "while it runs calls: none runs twice, what it had begun is unknown",
  inShort: true,
  faultsMin: (short) => (short ? 1 : 8),
  run: async ({ open, short, fail }) => {
    const lab = await open({ executes: false, perSecond: 60 });
    writeFileSync(join(lab.directory, "handlers.mjs"), HANDLERS);
    await lab.startGate();
    const begin = () => lab.beginExecutor("handlers.mjs");
    const readRuns = () => listRuns(readFileSync(join(lab.directory, "ran.txt"), "utf8"));
    let executor = begin();
    await executor.ready();
    await lab.load.start();
    let cutBefore = 0;
    for (let kill = 0; kill < (short ? 1 : 8); kill += 1) {
      await sleep(2_000);
      await executor.kill();
      const { size } = readRuns().cutOff;
      // A kill without a running call is no fault; too few faults make the row void.
      if (size > cutBefore) lab.struckOnce();
      cutBefore = size;
      executor = begin();
      await executor.ready();
    }
    await sleep(2_000);
    await lab.rest();
    const { begun, cutOff } = readRuns();
    if (begun.length < 50) fail(`void: only ${begun.length} calls ran`);
    const twice = begun.length - new Set(begun).size;
    if (twice > 0) fail(`${twice} calls ran twice`);
    for (const problem of findWrongReports(cutOff, (await lab.journals()).flat())) fail(problem);
    return lab;
  },
};

export const retriedAtOnce: Row = {
  name: "retry the moment its result is known",
  about: "an agent that was told of a failure proposes again at once: the gate knows it too",
  inShort: true,
  faultsMin: () => 50,
  run: async ({ open, onEnd, cluster, fail }) => {
    const lab = await open({ perSecond: 100 });
    await lab.startGate();
    await lab.load.start();
    const kafka = { brokers: [...cluster.bootstrap], topics: lab.names };
    const agent = await connectCallgate({ kafka, timeoutMs: 20_000 });
    onEnd(() => agent.close());
    for (let round = 0; round < 50; round += 1) {
      const call = {
        ...{ conversationId: `hasty-${round}`, tool: "add_item", arguments: { item: round } },
      };
      const first = await agent.propose({ ...call, callId: "1" });
      const error = { message: "try again", retryable: true };
      await agent.report(first.decisionId ?? "", { status: "failed", error });
      const reportedAtMs = Date.now();
      const second = await agent.propose({ ...call, callId: "2" });
      lab.waited(Date.now() - reportedAtMs);
      if (second.outcome !== "allowed") {
        fail(`round ${round}: ${second.outcome} ${second.refusal?.reason}`);
      }
      await agent.report(second.decisionId ?? "", { status: "succeeded", output: "ok" });
      lab.faults += 1;
    }
    return lab;
  },
};

export const proposedTwice: Row = {
  name: "proposal delivered twice",
  about: "every fiftieth proposal of the load is sent again by its producer",
  inShort: false,
  faultsMin: () => 20,
  run: async ({ open }) => {
    const lab = await open({ perSecond: 400 });
    await lab.startGate();
    await lab.load.start();
    await sleep(4_000);
    lab.faults = lab.load.doubled;
    return lab;
  },
};

export const partitionsAdded: Row = {
  name: "partitions added",
  about: "to the proposals alone: the gate stops and says why, another does not start",
  inShort: false,
  faultsMin: () => 1,
  run: async ({ open, cluster, fail }) => {
    const lab = await open();
    const gate = await lab.startGate();
    await lab.load.start();
    await sleep(2_000);
    await lab.rest();
    const admin = connectKafka(cluster.bootstrap).admin();
    await admin.connect();
    const grown = [{ topic: lab.names.proposals, count: lab.partitions + 1 }];
    await admin.createPartitions({ topicPartitions: grown });
    await admin.disconnect();
    lab.struckOnce();
    for (let tries = 0; tries < 300 && gate.isRunning && (await gate.isReady()); tries += 1) {
      await sleep(100);
    }
    if (gate.isRunning && (await gate.isReady())) fail("the gate goes on over topics that grew");
    const second = lab.beginGate();
    const code = await second.ended;
    if (code !== 3) fail(`a gate over unequal topics ended with ${code}:\n${second.log}`);
    if (!second.says("partitions")) fail(`it does not say why:\n${second.log}`);
    return lab;
  },
};
