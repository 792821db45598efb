import { expect, test } from "vitest";
import { describeThrown, isAbortError } from "../../../../services/client/calls/call-error.ts";

test("reads an error's code and whether it may be retried", () => {
  const coded = Object.assign(new Error("a"), { code: "E1", status: 500, retryable: true });
  expect(describeThrown(coded)).toEqual({ code: "E1", message: "a", retryable: true });
  expect(describeThrown({ statusCode: 429, message: "slow down" })).toEqual({
    code: "429",
    message: "slow down",
    retryable: null,
  });
  expect(describeThrown("text")).toEqual({ code: null, message: "text", retryable: null });
  expect(describeThrown({}).message).not.toBe("");
});

/** A proxy that throws on every access. */
function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const textless = Object.assign(() => "a source", {
  toString: () => {
    throw new Error("has no text");
  },
});

test.each([
  ["a function without a text", textless],
  ["a class", class Declined {}],
  ["a function that nobody may look at", revoked(() => undefined)],
  ["an object that nobody may look at", revoked({})],
  ["an object whose text is none", { toString: 5, message: 5 }],
])("reports that %s is not an error", (_what, thrown) => {
  const message = "the thrown value was not an error";
  expect(describeThrown(thrown)).toEqual({ code: null, message, retryable: null });
  expect(isAbortError(thrown)).toBe(false);
});

test.each([
  [undefined, "undefined"],
  [null, "null"],
  [Symbol("x"), "Symbol(x)"],
  [10n, "10"],
])("uses the text of %o", (thrown, message) => {
  expect(describeThrown(thrown)).toEqual({ code: null, message, retryable: null });
});

test("recognizes an abort by its name", () => {
  expect(isAbortError(new DOMException("aborted", "AbortError"))).toBe(true);
  expect(isAbortError(Object.assign(new Error("aborted"), { name: "AbortError" }))).toBe(true);
  expect(isAbortError(new Error("aborted"))).toBe(false);
  expect(isAbortError({ name: "AbortError" })).toBe(false);
  expect(isAbortError("AbortError")).toBe(false);
});
