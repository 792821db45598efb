import { expect, test } from "vitest";
import { trieGet } from "../../../../services/collections/trie.ts";
import type { ClaimChanged } from "../../../../services/core/events.ts";
import { isIdText } from "../../../../services/core/id-text.ts";
import {
  claimIdOf,
  evolveClaim,
  isClaimId,
  isClaimKey,
  readAfter,
  readHolders,
} from "../../../../services/core/state/claims.ts";
import { initialState } from "../../../../services/core/state/state.ts";

const RESOURCE = "order/7/payment";
const CLAIM = claimIdOf(RESOURCE);

function changed(decisionId: string, tenantId = "acme"): ClaimChanged {
  const call = { callId: "k", tool: "pay", kind: "charge", actionKey: "a", n: 1, atMs: 5 };
  const more = { status: "in_flight", ancestors: null, onFailure: "conflict" } as const;
  return {
    ...{ type: "claimed", tenantId, conversationId: CLAIM, resource: RESOURCE, decisionId },
    holders: [{ ...call, ...more, decisionId, claimant: "c" }],
    ...{ atMs: 5, dropAtMs: 100 },
  };
}

test("no conversation can have the id of a claim", () => {
  expect(isIdText(CLAIM)).toBe(false);
  expect(isClaimId(CLAIM)).toBe(true);
  expect(isClaimKey(`acme/${CLAIM}`)).toBe(true);
  expect(isClaimId("claim-1")).toBe(false);
  expect(isClaimKey("acme/claim-1")).toBe(false);
});

test("an event has its claim whole, and leaves every other conversation as it is", () => {
  const first = evolveClaim(undefined, changed("one"));
  const second = evolveClaim(first, changed("two"));
  expect(second).toEqual(evolveClaim(undefined, changed("two")));
  const own = initialState("acme", "c", 1);
  expect(evolveClaim(own, changed("two"))).toBe(own);
});

test("a claim without holders has lapsed at once, one with holders at its end", () => {
  const claim = evolveClaim(undefined, changed("one"));
  expect(readHolders(claim, RESOURCE, 99)).toHaveLength(1);
  expect(readHolders(claim, RESOURCE, 100)).toEqual([]);
  expect(readHolders(claim, "order/8/payment", 99)).toEqual([]);
  expect(readHolders(undefined, RESOURCE, 99)).toEqual([]);
});

test("the calls of one tick see what those before them changed", () => {
  const stored = evolveClaim(undefined, changed("stored"));
  const events = [changed("one"), changed("other tenant", "other")];
  const read = readAfter(events, () => stored);
  const holder = () =>
    trieGet(read("acme", CLAIM)?.effects ?? initialState("", "", 0).effects, RESOURCE);
  expect(holder()?.map(({ decisionId }) => decisionId)).toEqual(["one"]);
  events.push(changed("two"));
  expect(holder()?.map(({ decisionId }) => decisionId)).toEqual(["two"]);
  expect(read("acme", claimIdOf("order/8"))).toBe(stored);
});
