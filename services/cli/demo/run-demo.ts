/** `callgate demo`: the library as its users use it, with a scripted agent that misbehaves. */
import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Callgate, openCallgate } from "../../sdk/callgate.ts";
import { CallgateError } from "../../sdk/callgate-error.ts";
import { counted } from "../output/counted.ts";
import { EXIT_OK, type ExitCode } from "../output/exit-codes.ts";
import type { Terminal } from "../output/terminal.ts";
import { wrapped } from "../output/wrapped.ts";
import { commandPrefix, packageRoot } from "../package-root.ts";
import { askPerson } from "./ask-person.ts";
import { DemoAgent } from "./demo-agent.ts";
import { SCENES, type Stage } from "./scenes.ts";

const DATA_DIR = join(".callgate", "demo");
const PAUSE_MS = 400;
const TEXT_COLUMNS = 96;

const INTRODUCTION =
  "Callgate stands between an AI agent and its tools: each call is decided before it runs. " +
  "Here a scripted agent makes the mistakes that agents make. Nothing outside of this program " +
  "is touched.";

export async function runDemo(terminal: Terminal): Promise<ExitCode> {
  const { out } = terminal;
  await emptyDataDir();
  const policy = join(packageRoot(), "infra", "policies", "demo.yaml");
  const gate = await openCallgate({ policy, dataDir: DATA_DIR });
  try {
    const agent = new DemoAgent(gate, out);
    const stage = createStage(gate, terminal);
    await out.write(`${wrapped(INTRODUCTION, TEXT_COLUMNS)}\n`);
    let number = 0;
    for (const scene of SCENES) {
      number += 1;
      // A person reads along; a pipe does not.
      if (out.isTerminal) await sleep(PAUSE_MS);
      await out.write(`\n${out.style.bold(`${number}. ${scene.title}`)}\n`);
      await out.write(`   ${out.style.dim(`without the gate: ${scene.without}`)}\n`);
      agent.begin(scene.id);
      await scene.play(agent, stage);
    }
    await out.write(ending(agent, policy));
  } finally {
    await gate.close();
  }
  return EXIT_OK;
}

/** A demo begins with nothing, but not under the feet of one that is running. */
async function emptyDataDir(): Promise<void> {
  try {
    const probe = await openCallgate({ policy: {}, dataDir: DATA_DIR });
    await probe.close();
  } catch (error) {
    if (error instanceof CallgateError && error.code === "data_dir_in_use") throw error;
    // Whatever else is wrong with it goes away with it; what does not is told when it is opened.
  }
  rmSync(DATA_DIR, { recursive: true, force: true });
}

function createStage(gate: Callgate, terminal: Terminal): Stage {
  const { out } = terminal;
  return {
    say: async (text) => out.write(`   ${text}\n`),
    showMessage: async (message) => {
      const text = wrapped(`The agent is told: ${message}`, TEXT_COLUMNS - 4);
      await out.write(`${out.style.dim(text.replaceAll(/^/gm, "      "))}\n`);
    },
    decide: async (question, approvalId) => {
      const approved = terminal.isInteractive
        ? await askPerson(`   ${question}`, terminal.input, out)
        : true;
      if (!terminal.isInteractive) {
        await out.write(`   ${question} No terminal to ask on: the demo says yes itself.\n`);
      }
      const verdict = { by: terminal.isInteractive ? "you" : "demo", reason: "asked by the demo" };
      if (approved) await gate.approve(approvalId, verdict);
      else await gate.deny(approvalId, verdict);
    },
  };
}

/** A path as somebody in this directory would type it. */
function typed(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") ? path : fromHere;
}

function ending({ totals, world }: DemoAgent, policyPath: string): string {
  const policy = typed(policyPath);
  const sample = typed(join(packageRoot(), "infra", "recordings", "sample.jsonl"));
  const calls = Object.values(totals).reduce((sum, count) => sum + count, 0) - totals.held;
  const { documents, bills, payments, deletions } = world;
  const callgate = commandPrefix();
  const call = `'{"tool":"delete_customer","args":{"customer":"c-1"}}'`;
  return [
    "",
    `${calls} calls: ${totals.allowed + totals.failed} ran, ${totals.answered} answered from ` +
      `memory, ${totals.refused} refused, ${totals.held} held for a person.`,
    `Done: ${counted(documents.length, "document")} instead of 14, ${counted(bills.length, "bill")} ` +
      `instead of 3, ${counted(payments.length, "payment")} instead of 3,`,
    deletions.length > 0
      ? "and the customer was deleted after a yes."
      : "and the customer is still there.",
    "",
    `Every decision is in the log in ${DATA_DIR}, the policy in ${policy}.`,
    "What to try next:",
    `  ${callgate} policy explain --policy ${policy} \\`,
    `      --call ${call}`,
    `  ${callgate} policy lint ${policy}`,
    `  ${callgate} replay ${sample} --policy ${policy}`,
    `  ${callgate} --help`,
    "",
  ].join("\n");
}
