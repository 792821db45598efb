// The keys of a running gate follow their file, and never one that has problems.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { configOf } from "../../../services/adapters/config/load-config.ts";
import { WatchedKeys } from "../../../services/gate/watched-keys.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { until } from "../../support/runtime-kit.ts";
import { makeKeys } from "../../support/token-kit.ts";

const [first, next] = [await makeKeys("a"), await makeKeys("b")];
const brokers = ["127.0.0.1:1"];

function gateOf(gate: object) {
  const result = configOf({ kafka: { brokers }, gate }, "a test");
  return result.ok
    ? result.config.gate
    : result.problems.map(({ key, message }) => `${key} ${message}`);
}

function opened(file: string, lines: string[]): Promise<WatchedKeys | null> {
  const gate = gateOf({ proposals: "signed", proposalKeys: file });
  if (Array.isArray(gate)) throw new Error(gate.join());
  const note = (message: string): void => void lines.push(message);
  return WatchedKeys.open(gate as never, { debug: note, info: note, warn: note, error: note });
}

test("follow their file, also on SIGHUP, and stay the same where the new file has problems", async () => {
  const file = join(makeDirectory(), "keys.json");
  const write = (text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  write(JSON.stringify({ keys: [first.verifying] }));
  const lines: string[] = [];
  const keys = await opened(file, lines);
  if (keys === null) throw new Error("no keys are watched");
  onTestFinished(() => keys.close());
  keys.watch();
  write(JSON.stringify({ keys: [first.verifying, next.verifying] }));
  await until(() => keys.authority.keyIds.join() === "a,b");
  write("{");
  await until(() => lines.includes("the new keys for tokens were not accepted"));
  expect(keys.authority.keyIds).toEqual(["a", "b"]);
  write(JSON.stringify({ keys: [next.verifying] }));
  process.emit("SIGHUP");
  await until(() => keys.authority.keyIds.join() === "b");
});

test("keep a gate from starting where they cannot be read, and are not needed where it trusts proposals", async () => {
  const file = join(makeDirectory(), "keys.json");
  await expect(opened(file, [])).rejects.toThrow(/gate.proposalKeys: .*no such file/);
  writeFileSync(file, '{"keys": [{"kid": "a", "kty": "oct", "k": "c2VjcmV0"}]}');
  await expect(opened(file, [])).rejects.toThrow("keys[0] has 6 bytes: HS256 needs at least 32");
  expect(await WatchedKeys.open(gateOf({}) as never, undefined as never)).toBeNull();
});

test("are a configuration error where they are missing, or have no effect", () => {
  expect(gateOf({ proposals: "signed" })).toEqual(["gate.proposalKeys is missing"]);
  expect(gateOf({ proposalKeys: "keys.json" })).toEqual([
    "gate.proposalKeys is set, but proposals are trusted, so no token is checked",
  ]);
});
