// A gate accepts keys and tokens made on the command line.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTokenKeys } from "../../../../services/adapters/tokens/token-keys.ts";
import { verifyToken } from "../../../../services/adapters/tokens/verify-token.ts";
import { actionDigest } from "../../../../services/core/hash.ts";
import { runInProcess } from "../../../support/memory-terminal.ts";
import { makeDirectory } from "../../../support/open-gate.ts";

const MAKE = ["--conversation", "c", "--agent", "planner", "--turn", "3"];

async function keygen(...more: readonly string[]): Promise<string> {
  const directory = makeDirectory();
  const files = ["--out", join(directory, "signing.json"), ...more];
  const run = await runInProcess(["token", "keygen", "--kid", "k1", ...files]);
  expect(run.stderr).toBe("");
  return directory;
}

async function verified(token: string, file: string) {
  const read = await readTokenKeys(readFileSync(file, "utf8"));
  if (!read.ok) throw new Error(read.message);
  const result = await verifyToken(token.trim(), read.keys);
  if (!result.ok) throw new Error(result.message);
  return result;
}

test("keygen makes a private key readable only by its owner, and make signs a token that the public key verifies", async () => {
  const directory = makeDirectory();
  const [signing, verifying] = [join(directory, "s.json"), join(directory, "v.json")];
  await runInProcess(["token", "keygen", "--kid", "k1", "-o", signing, "--public", verifying]);
  expect(statSync(signing).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(verifying, "utf8")).keys[0]).not.toHaveProperty("d");
  const about = ["--confirmation", "yes", "--confirms-tool", "pay"];
  const args = ["--confirms-arguments", '{ "order": 7 }', "--cost", "0.25 USD"];
  const run = await runInProcess(["token", "make", "--keys", signing, ...MAKE, ...about, ...args]);
  const { claims, keyId } = await verified(run.stdout, verifying);
  expect(keyId).toBe("k1");
  expect(claims).toMatchObject({
    ...{ tenantId: "default", conversationId: "c", agentId: "planner", turn: "3" },
    estimatedCost: { microUnits: 250_000, currency: "USD" },
    confirmation: {
      id: "yes",
      confirms: { tool: "pay", callId: null, argumentsDigest: actionDigest("pay", '{"order":7}') },
    },
  });
});

test("an HS256 key signs and verifies", async () => {
  const signing = join(await keygen("--alg", "HS256"), "signing.json");
  const run = await runInProcess(["token", "make", "--keys", signing, ...MAKE, "--json"]);
  const { token } = JSON.parse(run.stdout);
  expect((await verified(token, signing)).claims.turn).toBe("3");
});

test.each([
  [["--confirms-tool", "pay"], "--confirmation: give the id"],
  [["--confirmation", "yes"], "--confirms-tool: name the tool"],
  [["--confirmation", "yes", "--confirms-tool", "pay"], "say which call of the tool"],
  [["--expires", "0"], "--expires: give whole seconds"],
  [["--cost", "1"], "--cost: write an amount and a currency"],
  [["--kid", "other"], "contains no key `other`"],
])("make explains what is wrong with %j", async (more, message) => {
  const signing = join(await keygen("--alg", "HS256"), "signing.json");
  const run = await runInProcess(["token", "make", "--keys", signing, ...MAKE, ...more]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(message);
});

test("a public key cannot sign, and keygen never overwrites a key", async () => {
  const directory = makeDirectory();
  const [signing, verifying] = [join(directory, "s.json"), join(directory, "v.json")];
  const words = ["token", "keygen", "--kid", "k1", "-o", signing, "--public", verifying];
  await runInProcess(words);
  const before = readFileSync(signing, "utf8");
  const made = await runInProcess(["token", "make", "--keys", verifying, ...MAKE]);
  expect(made.stderr).toContain("contains no signing key");
  expect((await runInProcess(words)).stderr).toContain("already exists");
  expect(readFileSync(signing, "utf8")).toBe(before);
});
