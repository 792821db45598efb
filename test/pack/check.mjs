// Run in a project that has installed the packed package: imports it as a user would and has it
// decide one call of each outcome that needs no person.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { isRefused, openCallgate } from "callgate";
import * as client from "callgate/client";

assert.equal(typeof openCallgate, "function", "callgate must export openCallgate");
assert.equal(typeof isRefused, "function", "callgate must export isRefused");

assert.equal(
  typeof client.connectCallgate,
  "function",
  "callgate/client must export connectCallgate",
);
assert.equal(client.isRefused, isRefused, "callgate/client must share what callgate exports");
assert.ok(!("openCallgate" in client), "callgate/client must not load the embedded gate");

const require = createRequire(import.meta.url);
const reasons = require("callgate/schemas/reasons.json");
assert.ok(reasons.reasons.length > 30, "callgate/schemas/reasons.json must list the reasons");
assert.equal(require("callgate/package.json").name, "callgate");

const policy = {
  policy_engine: {
    preset: "balanced",
    unknown_tools: "deny",
    tool_schemas: { get_order: { read_only: true }, create_invoice: {} },
  },
};
const gate = await openCallgate({ policy, dataDir: false });
try {
  const call = { conversationId: "pack-check", callId: "1", tool: "create_invoice" };
  const decision = await gate.propose({ ...call, arguments: { order_id: "A-1" } });
  assert.equal(decision.outcome, "allowed", JSON.stringify(decision));
  assert.ok(decision.decisionId, "an allowed call has a decisionId");

  const unknown = { conversationId: "pack-check", callId: "2", tool: "drop_table" };
  const refused = await gate.propose({ ...unknown, arguments: "{}" });
  assert.equal(refused.outcome, "refused", JSON.stringify(refused));
} finally {
  await gate.close();
}
process.stdout.write("the packed package decides\n");
