// Reads everything committed in some topics with the Java client that comes with the broker.
import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MissingError } from "../../../infra/local/missing.js";

const SOURCE = fileURLToPath(new URL("../java/ReadTopics.java", import.meta.url));
const WITHIN_SECONDS = 120;

export type ReadRecord = {
  readonly offset: number;
  readonly appendTimeMs: number;
  readonly timestampType: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
};

export type ReadTopic = {
  /** By partition. */
  readonly partitions: readonly (readonly ReadRecord[])[];
};

type Line = {
  readonly t?: string;
  readonly end?: string;
  readonly p: number;
  readonly o: number;
  readonly ts?: number;
  readonly tt?: string;
  readonly k?: string | null;
  readonly v?: string | null;
};

export type ReaderSetup = {
  /** Folder of Kafka's jars. */
  readonly libs: string;
  /** Folder of the compiled reader. */
  readonly classes: string;
  readonly bootstrap: readonly string[];
};

/** Compiles the reader against a Kafka's jars. @throws MissingError without a JDK. */
export async function compileReader(libs: string, classes: string): Promise<void> {
  try {
    await promisify(execFile)("javac", ["-cp", `${libs}/*`, "-d", classes, SOURCE]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new MissingError(
      "`javac` is not on the path (Debian: apt-get install openjdk-17-jdk-headless)",
    );
  }
}

/** @param topics the reader takes the end of each topic after that of the topic before it. */
export async function readTopics(
  { libs, classes, bootstrap }: ReaderSetup,
  topics: readonly string[],
): Promise<ReadonlyMap<string, ReadTopic>> {
  const jvm = ["-Xmx768m", "-XX:TieredStopAtLevel=1", "-cp", `${classes}:${libs}/*`];
  const args = ["ReadTopics", bootstrap.join(","), String(WITHIN_SECONDS), ...topics];
  const child = spawn("java", [...jvm, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const read = new Map<string, ReadRecord[][]>();
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line;
    const topic = line.t ?? line.end ?? "";
    const partitions = read.get(topic) ?? [];
    read.set(topic, partitions);
    partitions[line.p] ??= [];
    if (line.t !== undefined) partitions[line.p]?.push(recordOf(line));
  }
  const code = await ended;
  process.removeListener("exit", kill);
  if (code !== 0) throw new Error(`the Java client ended with ${code}: ${errors.slice(-2_000)}`);
  return new Map([...read].map(([topic, partitions]) => [topic, { partitions }]));
}

function recordOf({ o, ts, tt, k, v }: Line): ReadRecord {
  return {
    offset: o,
    appendTimeMs: ts ?? 0,
    timestampType: tt ?? "",
    key: k == null ? null : Buffer.from(k, "base64"),
    value: v == null ? null : Buffer.from(v, "base64"),
  };
}
