// The library can give every reason of the closed list but one.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeTokenKey } from "../../../services/adapters/tokens/token-keys.ts";
import { REASON_CODES, type ReasonCode } from "../../../services/core/reasons/reasons.ts";
import { gatherCheckExamples, type ReasonCase } from "../../support/gate-story/check-examples.ts";
import { outcomeOf } from "../../support/gate-story/gate-story.ts";
import { tell, tellWith } from "../../support/gate-story/tell.ts";
import { openGate } from "../../support/open-gate.ts";

const TOOLS = {
  tool_schemas: {
    write: {},
    look: { read_only: true },
    strict: { input_schema: { type: "object", required: ["id"] } },
  },
};

/** A program's own code makes the gate fail: a value that throws when it is read again. */
async function internalError(): Promise<string> {
  const raises = () => {
    let reads = 0;
    return Object.defineProperty({}, "id", {
      enumerable: true,
      get: () => {
        reads += 1;
        if (reads > 1) throw new RangeError("read once too often");
        return "a";
      },
    }) as { readonly id: string };
  };
  const story = await tellWith({
    policy: { tool_schemas: { write: { normalizers: { id: "x_raises" } } } },
    normalizers: { x_raises: raises },
  });
  const { refusal } = await story.propose("write", { id: "a" });
  expect(refusal?.message).toContain("read once too often");
  expect(await story.outcome("write", { other: 1 })).toBe("allowed");
  return refusal?.reason ?? "none";
}

/** The reasons that no check gives. Each check has its own in `test/conformance/checks`. */
const CASES: Readonly<Partial<Record<ReasonCode, ReasonCase>>> = {
  malformed: async (openStory) => (await openStory(TOOLS)).outcome("look", "{"),
  too_large: async (openStory) => (await openStory(TOOLS)).outcome("look", "x".repeat(2_000_000)),
  unauthenticated: async () => {
    const { verifying } = makeTokenKey("EdDSA", "a");
    const gate = await openGate({ policy: TOOLS, proposalKeys: { keys: [verifying] } });
    return outcomeOf(await gate.propose({ conversationId: "c", tool: "look", arguments: {} }));
  },
  overloaded: async () => {
    const gate = await openGate({ policy: TOOLS, limits: { conversations: 1 } });
    await gate.propose({ conversationId: "first", tool: "look", arguments: {} });
    return outcomeOf(await gate.propose({ conversationId: "c", tool: "look", arguments: {} }));
  },
  call_id_conflict: async (openStory) => {
    const story = await openStory(TOOLS);
    await story.propose("look", { n: 1 }, { callId: "c", step: "s" });
    return story.outcome("look", { n: 2 }, { callId: "c", step: "s" });
  },
  unknown_tool: async (openStory) => (await openStory(TOOLS)).outcome("nobody"),
  killed: async (openStory) => (await openStory({ ...TOOLS, kill: { all: true } })).outcome("look"),
  invalid_arguments: async (openStory) => (await openStory(TOOLS)).outcome("strict"),
  internal_error: internalError,
  gate_unavailable: async (openStory) => {
    const story = await openStory(TOOLS);
    await story.gate.close();
    return story.outcome("look");
  },
};

/** Needs partitions that two gates count differently, and the library has one: test/unit/runtime/process-batch.test.ts. */
const ONLY_ON_KAFKA = ["misrouted"];

const examples = await gatherCheckExamples();
const cases = Object.assign({}, CASES, ...examples.map(({ reasons }) => reasons)) as Readonly<
  Record<string, ReasonCase>
>;

test.each(Object.entries(cases))("%s", async (code, reasonCase) => {
  expect(await reasonCase((policy) => tell(policy))).toBe(code);
});

test("the list equals the published one, and each reason has a case", () => {
  const published = JSON.parse(
    readFileSync(new URL("../../../schemas/reasons.json", import.meta.url), "utf8"),
  ) as { readonly reasons: readonly { readonly code: string }[] };
  const codes = published.reasons.map(({ code }) => code);
  expect([...codes].sort()).toEqual([...REASON_CODES].sort());
  expect([...Object.keys(cases), ...ONLY_ON_KAFKA].sort()).toEqual([...codes].sort());
});
