// The steps of docs/recovery.md, "Rotate the secret", on the directory of an embedded gate.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCallgate } from "../../services/library/callgate.ts";
import { makeDirectory, openGate, SHOP_POLICY } from "../support/open-gate.ts";
import { runSteps, stepsOf } from "../support/page-steps.ts";
import { runCallgate } from "../support/run-callgate.ts";

const OLD = "the old secret, which is long enough";
const NEW = "the new secret, which is long enough";

const callOf = (order: string, callId = `call-${order}`) => ({
  ...{ conversationId: "c1", turn: 1, callId, tool: "charge_card" },
  arguments: { order },
});

test("a secret above the old one makes new keys, and repeats keep theirs", async () => {
  const directory = makeDirectory();
  const dataDir = join(directory, ".callgate");
  const gate = await openGate({ dataDir });
  const before = await gate.propose(callOf("a"));
  await gate.close();

  const [steps] = stepsOf("recovery.md", "### A directory of an embedded gate");
  await runSteps(steps, directory);
  const again = await openGate({ dataDir });
  expect(await again.propose(callOf("a"))).toMatchObject({
    ...{ repeated: true, idempotencyKey: before.idempotencyKey },
  });
  const after = await again.propose(callOf("b"));
  await again.close();
  expect(await runCallgate(["verify", "--data-dir", dataDir])).toMatchObject({ code: 0 });
  expect(await runCallgate(["recover", "--data-dir", dataDir])).toMatchObject({ code: 0 });

  // With the lower line alone the gate is refused: the new secret has made a key.
  const file = join(dataDir, "secret");
  const both = readFileSync(file, "utf8");
  writeFileSync(file, both.split("\n").slice(1).join("\n"));
  await expect(openGate({ dataDir })).rejects.toMatchObject({ code: "secret_unreadable" });
  writeFileSync(file, both);
  const last = await openGate({ dataDir });
  expect(await last.propose(callOf("b"))).toMatchObject({
    ...{ repeated: true, idempotencyKey: after.idempotencyKey },
  });
});

test("a program passes a list of secrets, the new one first", async () => {
  const dataDir = join(makeDirectory(), "data");
  const open = (secret: string | readonly string[]) =>
    openCallgate({ policy: SHOP_POLICY, dataDir, secret });
  const gate = await open(OLD);
  const before = await gate.propose(callOf("a"));
  await gate.close();
  await expect(open(NEW)).rejects.toMatchObject({ code: "secret_unreadable" });
  const again = await open([NEW, OLD]);
  expect(await again.propose(callOf("a"))).toMatchObject({
    ...{ repeated: true, idempotencyKey: before.idempotencyKey },
  });
  await again.close();
});
