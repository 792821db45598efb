import { expect, test } from "vitest";
import { date, datetime } from "../../../../services/core/normalize/calendar.ts";
import { capabilities } from "../../../support/core/compile.ts";

const formOf = (text: string) => {
  const result = date(text, capabilities);
  return result.ok && "value" in result ? result.value : null;
};

const momentOf = (text: string) => {
  const result = datetime(text, capabilities);
  return result.ok && "value" in result ? result.value : null;
};

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

test.each(DAYS.map((days, at) => [at + 1, days] as const))(
  "month %i has %i days",
  (month, days) => {
    const day = (n: number) =>
      `2023-${String(month).padStart(2, "0")}-${String(n).padStart(2, "0")}`;
    expect(formOf(day(days))).toBe(day(days));
    expect(formOf(day(days + 1))).toBeNull();
    expect(formOf(day(0))).toBeNull();
  },
);

test("a leap year has one day more, and the last year is 9999", () => {
  expect(["2024-02-29", "2024-02-30"].map(formOf)).toEqual(["2024-02-29", null]);
  expect(momentOf("9999-12-31T23:59:59+00:00")).toBe("9999-12-31T23:59:59Z");
  expect(momentOf("9999-12-31T23:59:59-00:01")).toBeNull();
  expect(momentOf("0001-01-01T00:00:00Z")).toBe("0001-01-01T00:00:00Z");
  expect(momentOf("0001-01-01T00:00:00+00:01")).toBeNull();
});
