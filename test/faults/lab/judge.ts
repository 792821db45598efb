// Judges a run in a process of its own, so that load and proxy go on undisturbed.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { Stage } from "../../support/simulation/check-topics.ts";
import type { Verdict } from "./check-run.ts";
import type { SentProposal } from "./load.ts";
import type { ReaderSetup } from "./read-topics.ts";

const PROGRAM = fileURLToPath(new URL("judge-main.ts", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

export type JudgeOrder = ReaderSetup & {
  readonly names: TopicNames;
  readonly policyFile: string;
  /** The section of the gates' configuration, if they have one. */
  readonly registry: object | undefined;
  readonly sent: readonly SentProposal[];
  readonly stage: Stage;
};

/** Reads the topics with the Java client and checks them. */
export async function judge(order: JudgeOrder, signal: AbortSignal): Promise<Verdict> {
  const child = spawn(process.execPath, ["--import", "tsx", PROGRAM], {
    cwd: REPOSITORY,
    stdio: ["pipe", "pipe", "pipe"],
    signal,
  });
  const texts = { out: "", errors: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    texts.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    texts.errors += text;
  });
  const kill = () => child.kill();
  process.once("exit", kill);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // A checker that ends at once has not read its order.
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify(order));
  const code = await ended.finally(() => process.removeListener("exit", kill));
  if (code !== 0) throw new Error(`the checker ended with ${code}: ${texts.errors.slice(-2_000)}`);
  return JSON.parse(texts.out) as Verdict;
}
