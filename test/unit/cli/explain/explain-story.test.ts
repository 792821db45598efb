// Explains calls after what a recording cannot say: several agents, and outcomes that are unknown.
import { expect, test } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { explainCall } from "../../../../services/cli/explain/explain-call.ts";
import { replayPolicy } from "../../../../services/cli/replay/replay-conversation.ts";
import { capabilities } from "../../../../services/gate/capabilities.ts";
import { compileGatePolicy } from "../../../../services/gate/gate-policy.ts";
import { MINUTE, Story } from "../../../support/decider-spec.ts";

function startExplained(text: string) {
  const loaded = loadPolicy([{ name: "p.yaml", text }]);
  const compiled = compileGatePolicy(loaded, capabilities);
  if (!loaded.ok || !compiled.ok) throw new Error("the policy has problems");
  const policy = replayPolicy(compiled.policy);
  const story = new Story(policy.enforced);
  const explain = (name: string, tool: string, args: object, agentId = "agent") => {
    const proposal = story.proposal(tool, JSON.stringify(args), { agentId });
    const { checks } = explainCall(story.state, proposal, policy, loaded.source, story.nowMs);
    return checks.find(({ check }) => check === name)?.value;
  };
  return { story, explain };
}

const LAMP = "tool_schemas: { set: {}, read: { read_only: true } }";

test("says that equal calls of other agents do not count", () => {
  const { story, explain } = startExplained(LAMP);
  const call = story.allowed("read", { page: 1 }, { agentId: "ann" });
  story.reported(call, { output: "idle" });
  expect(explain("loops", "read", { page: 1 }, "bob")).toContain(
    "1 equal calls of other agents do not count against this one",
  );
});

test("says that rounds of several agents are one cycle", () => {
  const { story, explain } = startExplained(LAMP);
  for (let n = 0; n < 5; n += 1) {
    const agentId = n % 2 === 0 ? "night" : "motion";
    const call = story.after(MINUTE).allowed("set", { on: n % 2 === 1 }, { agentId });
    story.reported(call, { output: `version ${n}` });
  }
  expect(explain("loops", "set", { on: true }, "motion")).toContain(
    "2 agents made the same 2 calls in turn 3 times: the cycle is one of the conversation",
  );
});

test.each([
  [null, "refuse", "no read after it shows whether it took effect"],
  ['[{"id":"INV-4711"}]', "refuse", "a read after it names it, so it may have taken effect"],
  ["[]", "refuse", "`idempotency.unknown_outcome: retry_if_absent` would let it run"],
  ["[]", "retry_if_absent", "so it runs again under its key"],
])("says what a read that gave %j showed of an unknown write, with %s", (output, mode, value) => {
  const text = `idempotency: { unknown_outcome: ${mode} }\ntool_schemas: { pay: { effects: [{ resource: invoice, kind: charge, exclusive: false }] }, list: { read_only: true, reads: [invoice] } }`;
  const { story, explain } = startExplained(text);
  story.reported(story.allowed("pay", { id: "INV-4711" }), { status: "unknown" });
  if (output !== null) story.done("list", {}, output);
  expect(explain("duplicate", "pay", { id: "INV-4711" })).toContain(value);
});

test("says that a loop of reads stops its tool alone", () => {
  const { story, explain } = startExplained(
    "escalation: { user_input: 1 }\nchecks: { loop_no_progress: enforce }\ntool_schemas: { read: { read_only: true } }",
  );
  for (let n = 0; n < 3; n += 1) story.done("read", { n }, "nothing");
  story.refused("read", { n: 4 });
  expect(explain("conversation", "read", { n: 5 })).toContain(
    "a loop of reads stops `read` until the user answers, and no other tool",
  );
});
