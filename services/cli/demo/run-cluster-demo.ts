/** `callgate demo --config`: the same agent, with gate and tools as processes on a cluster. */
import type { Config } from "../../adapters/config/config-schema.ts";
import { type Callgate, connectCallgate, type KafkaConnection } from "../../library/callgate.ts";
import { EXIT_FINDINGS, EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import { openConfig } from "../../process/open-config.ts";
import type { Terminal } from "../output/terminal.ts";
import { commandPrefix } from "../package-root.ts";
import { DemoAgent } from "./demo-agent.ts";
import { executedElsewhere } from "./executed-elsewhere.ts";
import { DemoRecorder } from "./expected-outcomes.ts";
import { jsonView } from "./json-view.ts";
import { createStage, playScenes, typed } from "./run-demo.ts";
import { textView } from "./text-view.ts";

/**
 * Plays the scenes on a cluster where a gate uses the demo's policy, an executor runs the demo's
 * tools, and the scenes have not been played before. `EXIT_FINDINGS`: a decision was not the
 * expected one.
 */
export async function runClusterDemo(
  file: string,
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const { kafka, registry } = openConfig(file, []);
  const recorder = new DemoRecorder(json ? jsonView(terminal.out) : textView(terminal.out));
  const { view } = recorder;
  const gate = await connectCallgate({ kafka: connectionOf(kafka), registry });
  try {
    const agent = new DemoAgent(executedElsewhere(gate), view);
    const person = terminal.isInteractive && !json ? terminal : null;
    await view.start();
    await view.say("Gate, executor and analytics are other processes, with Kafka between them.");
    const stage = createStage(recordVerdicts(gate, recorder), view, person);
    await playScenes(agent, view, stage);
    const { totals, world } = agent;
    await view.end({ totals, world, next: whatNext(file) });
  } finally {
    await gate.close();
  }
  const { deviations, count } = recorder.judge();
  for (const line of deviations) await terminal.err.write(`callgate: ${line}\n`);
  const right = count - deviations.length;
  const mark = deviations.length === 0 ? "✓" : "✗";
  const judged = `${right} of ${count} decisions; a call that is held is decided twice`;
  if (!json) await terminal.out.write(`\n${mark} the gate decided as it should (${judged})\n`);
  return deviations.length === 0 ? EXIT_OK : EXIT_FINDINGS;
}

function connectionOf({ sasl, ...kafka }: Config["kafka"]): KafkaConnection {
  if (sasl === undefined) return kafka;
  const { mechanism, username, password = "" } = sasl;
  return { ...kafka, sasl: { mechanism, username, password } };
}

function recordVerdicts(gate: Callgate, recorder: DemoRecorder): Callgate {
  return {
    ...gate,
    deny: (approvalId, verdict) => {
      recorder.denied();
      return gate.deny(approvalId, verdict);
    },
  };
}

function whatNext(file: string): readonly string[] {
  const callgate = commandPrefix();
  const config = `--config ${typed(file)}`;
  return [
    "Every decision is in the topic `decisions`. As long as the cluster is there:",
    `  ${callgate} tail ${config} --from-beginning --once`,
    `  ${callgate} explain <decision id> ${config}`,
    `  ${callgate} verify ${config}`,
  ];
}
