/** `callgate demo`: uses the library as programs do, with a scripted agent that misbehaves. */
import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Readable } from "node:stream";
import { CallgateError } from "../../client/api/callgate-error.ts";
import { type Callgate, openCallgate } from "../../library/callgate.ts";
import { EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import type { Output, Terminal } from "../output/terminal.ts";
import { commandPrefix, packageRoot } from "../package-root.ts";
import { DemoAgent } from "./demo-agent.ts";
import { SCENES, type Stage } from "./scenes.ts";
import { type DemoView, jsonView, textView } from "./view.ts";

const DATA_DIR = join(".callgate", "demo");

export async function runDemo(json: boolean, terminal: Terminal): Promise<ExitCode> {
  await emptyDataDir();
  const infra = join(packageRoot(), "infra");
  const policy = join(infra, "policies", "demo.yaml");
  const view = json ? jsonView(terminal.out) : textView(terminal.out);
  const gate = await openCallgate({ policy, dataDir: DATA_DIR });
  try {
    const agent = new DemoAgent(gate, view);
    const person = terminal.isInteractive && !json ? terminal : null;
    const stage = createStage(gate, view, person);
    await view.start();
    await playScenes(agent, view, stage);
    const { totals, world } = agent;
    await view.end({ totals, world, next: whatNext(typed(policy), infra) });
  } finally {
    await gate.close();
  }
  return EXIT_OK;
}

export async function playScenes(agent: DemoAgent, view: DemoView, stage: Stage): Promise<void> {
  for (const [index, scene] of SCENES.entries()) {
    await view.scene(index + 1, scene);
    agent.begin(scene.id);
    await scene.play(agent, stage);
  }
}

function whatNext(policy: string, infra: string): readonly string[] {
  const callgate = commandPrefix();
  return [
    `Every decision is in the log in ${DATA_DIR}, the policy in ${policy}.`,
    "What to try next:",
    `  ${callgate} policy explain --policy ${policy} \\`,
    `      --call '{"tool":"delete_customer","args":{"customer":"c-1"}}'`,
    `  ${callgate} policy lint ${policy}`,
    `  ${callgate} replay ${typed(join(infra, "recordings", "sample.jsonl"))} --policy ${policy}`,
    `  ${callgate} --help`,
  ];
}

/** A demo begins with an empty directory, unless another demo is running on it. */
async function emptyDataDir(): Promise<void> {
  try {
    const probe = await openCallgate({ policy: {}, dataDir: DATA_DIR });
    await probe.close();
  } catch (error) {
    if (error instanceof CallgateError && error.code === "data_dir_in_use") throw error;
    // Deleting the directory removes any other problem; what remains is reported when it is opened.
  }
  rmSync(DATA_DIR, { recursive: true, force: true });
}

/** `person`: the terminal of a person who answers; without one the demo answers itself. */
export function createStage(gate: Callgate, view: DemoView, person: Terminal | null): Stage {
  return {
    say: view.say,
    showMessage: view.message,
    decide: async (question, approvalId) => {
      if (person === null) {
        await view.say(`${question} No terminal to ask on: the demo says yes itself.`);
        await gate.approve(approvalId, { by: "demo", reason: "there is nobody to ask" });
      } else if (await askPerson(`   ${question}`, person.input, person.out)) {
        await gate.approve(approvalId, { by: "you", reason: "asked by the demo" });
      } else {
        await gate.deny(approvalId, { by: "you", reason: "asked by the demo" });
      }
    },
  };
}

/** A path as a user in this directory would type it. */
export function typed(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") ? path : fromHere;
}

/** Asks for y or n; end of input counts as no. */
async function askPerson(question: string, input: Readable, output: Output): Promise<boolean> {
  const lines = createInterface({ input, terminal: false });
  await output.write(`${question} [y/N] `);
  try {
    const { value } = await lines[Symbol.asyncIterator]().next();
    return typeof value === "string" && /^\s*(y|yes)\s*$/i.test(value);
  } finally {
    lines.close();
  }
}
