// A proposal's members are the token's or the proposal is refused; a token that was changed is none.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  TOKEN_HEADER,
  TokenAuthority,
} from "../../../../services/adapters/tokens/token-authority.ts";
import { tokenKeysOf } from "../../../../services/adapters/tokens/token-keys.ts";
import type { ProposalInput } from "../../../../services/core/inputs.ts";
import type { LogRecord } from "../../../../services/runtime/ports.ts";
import { CLAIMS, makeKeys, sign } from "../../../support/token-kit.ts";

const PROPOSAL: ProposalInput = {
  type: "proposal",
  ...{ tenantId: "default", conversationId: "c", callId: "1", agentId: "planner", turn: "1" },
  ...{ step: "1", tool: "charge_card", arguments: "{}", assistantText: null },
  ...{ estimatedCost: null, confirmation: "yes", rejected: null },
};

const pairs = [await makeKeys("a"), await makeKeys("s", "HS256")] as const;
const read = await tokenKeysOf({ keys: pairs.map(({ verifying }) => verifying) });
if (!read.ok) throw new Error(read.message);
const authority = new TokenAuthority(read.keys);
const confirmation = { id: "yes", tool: "charge_card", callId: "1" };
const tokens = await Promise.all(
  pairs.map(({ signing }) => sign(signing, { ...CLAIMS, confirmation })),
);

async function judged(token: string, proposal: ProposalInput, nowMs = 0): Promise<ProposalInput> {
  const headers = [{ name: TOKEN_HEADER, value: token }];
  const record: LogRecord = { offset: 0, appendTimeMs: nowMs, key: null, value: null, headers };
  await authority.pending(record);
  return authority.vouch(proposal, record, nowMs);
}

const text = fc.string({ minLength: 1, maxLength: 8 });
const tampered = fc.record(
  {
    tenantId: fc.oneof(fc.constant("default"), text),
    conversationId: fc.oneof(fc.constant("c"), text),
    agentId: fc.option(fc.oneof(fc.constantFrom("planner", "Planner", " planner"), text)),
    turn: fc.option(fc.oneof(fc.constantFrom("1", "01", "2"), text)),
    confirmation: fc.option(fc.oneof(fc.constantFrom("yes", "no"), text)),
    estimatedCost: fc.option(fc.constant({ microUnits: 1, currency: "USD" })),
  },
  { requiredKeys: [] },
);

test("any change of what only the platform may say is refused or has no effect", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...tokens), tampered, async (token, change) => {
      const right = await judged(token, PROPOSAL);
      const input = await judged(token, { ...PROPOSAL, ...change });
      if (input.rejected === null) expect(input).toEqual(right);
      else expect(input.rejected.reason).toBe("unauthenticated");
    }),
    { numRuns: 1_000 },
  );
});

test("any other text than a token that was signed is unauthenticated", async () => {
  const edit = fc.record({
    at: fc.nat(),
    removed: fc.nat({ max: 3 }),
    added: fc.string({
      unit: fc.constantFrom(..."ABCDEFwxyz019-_.="),
      maxLength: 3,
    }),
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...tokens), edit, async (token, { at, removed, added }) => {
      const from = at % token.length;
      const mutant = token.slice(0, from) + added + token.slice(from + removed);
      fc.pre(mutant !== token);
      const { rejected } = await judged(mutant, PROPOSAL);
      expect(rejected?.reason).toBe("unauthenticated");
    }),
    { numRuns: 1_000 },
  );
});

test("the last character of a signature has one spelling", async () => {
  for (const token of tokens) {
    for (const last of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") {
      const mutant = token.slice(0, -1) + last;
      const { rejected } = await judged(mutant, PROPOSAL);
      expect(rejected === null).toBe(mutant === token);
    }
  }
});

test("a token counts before its time and never from then on", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 1_000_000 }), fc.nat({ max: 2_000_000 }), async (exp, nowMs) => {
      const token = await sign(pairs[1].signing, { ...CLAIMS, exp });
      const { rejected } = await judged(token, { ...PROPOSAL, confirmation: null }, nowMs);
      expect(rejected === null).toBe(nowMs < exp * 1_000);
    }),
    { numRuns: 200 },
  );
});
