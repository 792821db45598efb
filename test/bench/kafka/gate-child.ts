// The process under test of `../shared/bench/run.sh`: reads its topics, writes when it was handed the first
// input into FIRST_FILE, and what it has used when it ends.
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createJsonLogger } from "../../../services/adapters/log/json-logger.ts";
import { benchCodec, benchSettings, openBenchGate } from "./bench-gate.ts";

const MS_PER_SECOND = 1_000;
const MICROS_PER_SECOND = 1_000_000;
const BYTES_PER_MB = 1_048_576;
const LOOK_EVERY_MS = 20;
const MAX_S_DEFAULT = 300;

const { env } = process;

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Before it has joined, a gate only gets its warm-up inputs. */
function noteFirst(): boolean {
  if (!gate.host.status().joined) return false;
  const file = env["FIRST_FILE"];
  if (file !== undefined) writeFileSync(file, String(performance.timeOrigin + performance.now()));
  return true;
}

const logger = createJsonLogger(process.stderr, "warn", { service: "bench-gate" });
const { gate, close } = await openBenchGate(benchSettings(env), benchCodec(noteFirst), logger);

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / MICROS_PER_SECOND;
}

async function end(): Promise<void> {
  await close();
  print({
    ev: "end",
    cpu_s: cpuSeconds(),
    rss_mb: Math.round(process.memoryUsage().rss / BYTES_PER_MB),
  });
  process.exit();
}

void gate.host.failed.then(({ message }) => {
  print({ ev: "failed", message });
  process.exit(1);
});
process.on("SIGUSR2", () => print({ ev: "used", cpu_s: cpuSeconds() }));
process.once("SIGTERM", () => void end());
setTimeout(() => process.exit(1), Number(env["MAX_S"] ?? MAX_S_DEFAULT) * MS_PER_SECOND).unref();
await gate.host.start();
while (!gate.host.status().ready) await sleep(LOOK_EVERY_MS);
print({ ev: "ready" });
