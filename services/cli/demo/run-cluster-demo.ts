/** `callgate demo --config`: the same agent, with gate and tools as processes on a cluster. */
import type { Config } from "../../adapters/config/config-schema.ts";
import type { Tools } from "../../client/api/guard-types.ts";
import { refusedOf } from "../../client/api/refused.ts";
import { readOutput } from "../../client/values/output-text.ts";
import {
  type Callgate,
  type CallOptions,
  connectCallgate,
  type Decision,
  type GuardContext,
  type KafkaConnection,
} from "../../library/callgate.ts";
import {
  EXIT_FINDINGS,
  EXIT_OK,
  type ExitCode,
  environmentError,
} from "../../process/exit-error.ts";
import { openConfig } from "../../process/open-config.ts";
import type { Terminal } from "../output/terminal.ts";
import { commandPrefix } from "../package-root.ts";
import { DemoAgent } from "./demo-agent.ts";
import { DemoRecorder } from "./expected-outcomes.ts";
import { createStage, playScenes, typed } from "./run-demo.ts";
import { jsonView, textView } from "./view.ts";

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

const RESULT_WITHIN_MS = 60_000;

/**
 * The same gate, whose `guard` proposes calls that a remote executor runs. The local tools are
 * called for each call that has run, only to update the demo's view of the world; their results are
 * dropped.
 */
function executedElsewhere(gate: Callgate): Callgate {
  return {
    ...gate,
    guard: ((tools: Tools, context: GuardContext | (() => GuardContext)) => {
      const guarded = Object.keys(tools).map((tool) => {
        const run = (args: object = {}, options: CallOptions = {}): Promise<unknown> => {
          const guardContext = typeof context === "function" ? context() : context;
          return callElsewhere(gate, tools, {
            tool,
            args,
            context: { ...guardContext, ...options },
          });
        };
        return [tool, run] as const;
      });
      return Object.fromEntries(guarded);
    }) as Callgate["guard"],
  };
}

type Call = {
  readonly tool: string;
  readonly args: object;
  readonly context: GuardContext & CallOptions;
};

async function callElsewhere(gate: Callgate, tools: Tools, call: Call): Promise<unknown> {
  const { tool, args, context } = call;
  const { signal: _signal, onHeld: _onHeld, ...fields } = context;
  const decision = await gate.propose({ ...fields, tool, arguments: args });
  if (decision.outcome !== "allowed") return refusal(decision);
  const { status, output } = await gate.awaitResult(decision.decisionId, {
    timeoutMs: RESULT_WITHIN_MS,
  });
  if (status !== "succeeded" && status !== "failed") {
    throw environmentError(`\`${tool}\` was allowed, and the executor reports \`${status}\``);
  }
  // Throws as the remote tool did.
  Reflect.apply(tools[tool] as (...input: readonly unknown[]) => unknown, tools, [args]);
  if (status === "succeeded") return output;
  throw environmentError(`\`${tool}\` failed at the executor, and should not have`);
}

/** A read that was answered from memory returns the earlier output. */
function refusal(decision: Decision): unknown {
  const { refusal: why, isRead, tool } = decision;
  if (why === undefined || why.reason === "gate_unavailable") {
    const problem = why?.problem ?? "no answer";
    throw environmentError(`the gate does not decide \`${tool}\`: ${problem}: is it running?`);
  }
  const earlier = why.previousResult?.inline ?? null;
  if (isRead && why.reason === "duplicate_call" && earlier !== null) return readOutput(earlier);
  return refusedOf(decision, why);
}
