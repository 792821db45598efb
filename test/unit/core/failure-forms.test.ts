import { describe, expect, it } from "vitest";
import { effectOfThrown, failureForm } from "../../../services/core/failure-forms.ts";

const MESSAGE_CHARACTERS = 1_000;
const error = (members: object): Error => Object.assign(new Error("no"), members);

describe("the effect of a call that threw", () => {
  it.each([400, 403, 404, 407, 410, 422, 424, 426, 429, 499])(
    "is none after status %d",
    (status) => {
      expect(effectOfThrown(error({ status }))).toBe("none");
    },
  );

  it.each([399, 408, 409, 425, 500, 200])("is possible after status %d", (status) => {
    expect(effectOfThrown(error({ status }))).toBe("possible");
  });

  it.each([100, 599])("is possible where another status, %d, contradicts", (statusCode) => {
    expect(effectOfThrown(error({ status: 403, statusCode }))).toBe("possible");
  });

  it.each([99, 600, 403.5, "500"])("is not changed by %s, which is no status", (statusCode) => {
    expect(effectOfThrown(error({ status: 403, statusCode }))).toBe("none");
  });
});

it("shows the message of a failed output up to its limit", () => {
  const shownOf = (length: number) =>
    failureForm({ isError: true, content: "x".repeat(length) })?.message.length;
  expect(shownOf(MESSAGE_CHARACTERS - 1)).toBe(MESSAGE_CHARACTERS - 1);
  expect(shownOf(MESSAGE_CHARACTERS + 1)).toBe(MESSAGE_CHARACTERS);
});
