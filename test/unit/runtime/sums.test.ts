import { describe, expect, it } from "vitest";
import { initialState } from "../../../services/core/state/state.ts";
import { addDigests, subtractDigests, ZERO_DIGEST } from "../../../services/runtime/digest-sum.ts";
import {
  conversationHash,
  exchangeHash,
  NO_SUM,
  sumText,
} from "../../../services/runtime/state-hash.ts";

const ones = "f".repeat(64);
const a = `${"0".repeat(62)}ab`;

describe("a sum of digests", () => {
  it("does not depend on order, and its members can be subtracted again", () => {
    const sum = addDigests(addDigests(ZERO_DIGEST, ones), a);
    expect(sum).toBe(addDigests(addDigests(ZERO_DIGEST, a), ones));
    expect(sum).toBe(`${"0".repeat(62)}aa`);
    expect(subtractDigests(sum, ones)).toBe(a);
    expect(subtractDigests(ZERO_DIGEST, a)).toBe(`${"f".repeat(62)}55`);
  });
});

describe("the hash of a partition's state", () => {
  const state = initialState("t", "c", 5);
  const one = conversationHash("", "t/c", 1, state);
  const other = conversationHash("", "t/d", 1, state);

  it("does not depend on the order of its conversations", () => {
    const sum = exchangeHash(exchangeHash(NO_SUM, "", one), "", other);
    expect(sum).toEqual(exchangeHash(exchangeHash(NO_SUM, "", other), "", one));
    expect(sumText(sum)).toMatch(/^[0-9a-f]{24}$/);
    expect(exchangeHash(exchangeHash(sum, one, ""), other, "")).toEqual(NO_SUM);
  });

  it("is that of the current turn, whichever turns were hashed before", () => {
    const hashes = ["1", "2", null, "1", "2", null, 'with "quotes"'].map((id) =>
      conversationHash("", "t/c", 1, { ...state, turn: { ...state.turn, id } }),
    );
    expect(hashes.slice(3, 6)).toEqual(hashes.slice(0, 3));
    expect(new Set(hashes).size).toBe(4);
  });

  it("differs with key, record, history and state", () => {
    const hashes = [
      one,
      other,
      conversationHash("", "t/c", 2, state),
      conversationHash(one, "t/c", 1, state),
      conversationHash("", "t/c", 1, { ...state, n: 1 }),
      conversationHash("", "t/c", 1, { ...state, cycle: ["x"] }),
      conversationHash("", "t/c", 1, { ...state, turn: { ...state.turn, id: "2" } }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
