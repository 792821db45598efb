// A program whose brokers stop answering can close its gate and end.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { makeTopics } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import { APIS, type Api } from "../../support/kafka-proxy/wire.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();
const CHILD = fileURLToPath(new URL("../../support/kafka/hung-client.ts", import.meta.url));
/** Less than an unanswered request takes; kafkajs pauses for ten seconds in all between its attempts. */
const ENDED_MS = 20_000;

function spawnClient(args: readonly string[]): { child: ChildProcess; said: () => string } {
  const child = spawn(process.execPath, ["--import", "tsx", CHILD, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, said: () => said };
}

describe.skipIf(!kafka.available)(`a client whose brokers hang ${kafka.reason}`, () => {
  it("lets its process end after it is closed", async () => {
    const names = await makeTopics(kafka.brokers);
    const proxy = await KafkaProxy.start(kafka.brokers);
    onTestFinished(() => proxy.close());
    const { child, said } = spawnClient([proxy.brokers.join(), JSON.stringify(names)]);
    await until(() => said() === "connected\n");
    const never = { type: "swallow" } as const;
    for (const api of Object.keys(APIS) as Api[]) {
      proxy.arm({ api, deed: never, times: Number.POSITIVE_INFINITY });
    }
    child.stdin?.write("now\n");
    const ended = once(child, "exit");
    await until(() => said().endsWith("closed\n"));
    const fromMs = performance.now();
    expect(await ended).toEqual([0, null]);
    expect(performance.now() - fromMs).toBeLessThan(ENDED_MS);
    expect(said()).toBe("connected\ntimeout\nclosed\n");
  });
});
