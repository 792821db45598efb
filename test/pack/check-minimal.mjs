// Run in a project that has installed the packed package with `--omit=optional`: what works without
// native parts, and what the errors of the rest say.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { CallgateError, connectCallgate, openCallgate } from "callgate";
import * as client from "callgate/client";

assert.equal(client.connectCallgate, connectCallgate);

/** @param {object} tool */
const policyOf = (tool) => ({
  policy_engine: { preset: "balanced", unknown_tools: "deny", tool_schemas: { call_up: tool } },
});

const gate = await openCallgate({ policy: policyOf({ read_only: true }), dataDir: false });
try {
  const call = { conversationId: "pack-check", callId: "1", tool: "call_up" };
  const decision = await gate.propose({ ...call, arguments: { number: "+1 415 555 2671" } });
  assert.equal(decision.outcome, "allowed", JSON.stringify(decision));
} finally {
  await gate.close();
}

/**
 * @param {Promise<unknown>} opening
 * @param {string} code
 * @param {RegExp} message
 */
async function assertRefused(opening, code, message) {
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof CallgateError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

const readOnly = policyOf({ read_only: true });
const lmdb = /`gate-data` .*optional package lmdb is not installed: .*without `--omit=optional`/;
await assertRefused(
  openCallgate({ policy: readOnly, dataDir: "gate-data" }),
  "data_dir_unusable",
  lmdb,
);
assert.ok(!existsSync("gate-data"), "a directory that cannot be opened must not be made");

const phone = policyOf({ normalizers: { number: ["e164(US)"] } });
await assertRefused(
  openCallgate({ policy: phone, dataDir: false }),
  "policy_invalid",
  /`e164` cannot be used: .*libphonenumber-js.* is not installed/,
);

// Nobody listens there: the client of Kafka is loaded and tries.
await assertRefused(
  connectCallgate({ kafka: { brokers: ["127.0.0.1:1"] } }),
  "storage_unavailable",
  /127\.0\.0\.1:1/,
);
process.stdout.write("the packed package decides without its optional packages\n");
