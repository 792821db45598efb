// The topics of one test, with the processes and clients that share them.
import { onTestFinished } from "vitest";
import {
  type Callgate,
  type ConnectOptions,
  connectCallgate,
} from "../../../services/library/callgate.ts";
import { makeTopics, type TopicChoices } from "../kafka/test-cluster.ts";
import { type RunningProcess, sharedConfig, startProcess } from "./running-process.ts";

const TIMEOUT_MS = 60_000;
const POLICY_FILE = "policy.yaml";
const HANDLERS_FILE = "handlers.mjs";

export interface ClusterKit {
  readonly config: ReturnType<typeof sharedConfig>;
  connect(options?: Partial<ConnectOptions>): Promise<Callgate>;
  /** `given`: sections of the configuration, in place of the shared ones. */
  startGate(policy: string, sections?: object): RunningProcess;
  startExecutor(handlers: string, sections?: object): RunningProcess;
  startAnalytics(sections?: object): RunningProcess;
}

export async function createClusterKit(
  brokers: readonly string[],
  choices: TopicChoices = {},
): Promise<ClusterKit> {
  const names = await makeTopics(brokers, { config: { "retention.ms": "-1" }, ...choices });
  const config = sharedConfig(brokers, names);
  return {
    config,
    connect: async (options = {}) => {
      const kafka = { brokers, topics: names };
      const callgate = await connectCallgate({ kafka, timeoutMs: TIMEOUT_MS, ...options });
      onTestFinished(() => callgate.close());
      return callgate;
    },
    startGate: (policy, sections = {}) =>
      startProcess(
        ["gate"],
        { ...config, policy: { files: [POLICY_FILE] }, ...sections },
        { [POLICY_FILE]: policy },
      ),
    startExecutor: (handlers, sections = {}) =>
      startProcess(
        ["executor", "--handlers", HANDLERS_FILE],
        { ...config, ...sections },
        { [HANDLERS_FILE]: handlers },
      ),
    startAnalytics: (sections = {}) =>
      startProcess(["analytics", "run"], { ...config, ...sections }),
  };
}
