import { describe, expect, test } from "vitest";
import type { CallReport } from "../../../../services/client/inputs/report.ts";
import { checkReport } from "../../../../services/client/inputs/report.ts";

describe("a report", () => {
  test.each<CallReport>([
    { status: "succeeded", output: { id: 1 }, durationMs: 3 },
    { status: "failed", error: { message: "no" } },
    { status: "not_executed" },
    { status: "succeeded", cost: { microUnits: 5, currency: "EUR" } },
  ])("accepts %j", (report) => {
    expect(() => checkReport(report)).not.toThrow();
  });

  test.each([
    [null, "must be an object"],
    [{}, "`status` must be one of started, succeeded"],
    [{ status: "done" }, "`status` must be one of"],
    [{ status: "succeeded", durationMs: "3" }, "`durationMs` must be a number"],
    [{ status: "succeeded", durationMs: 1e300 }, "`durationMs` must be a number"],
    [{ status: "succeeded", cost: 5 }, "`cost` must be { microUnits"],
    [
      { status: "succeeded", cost: { microUnits: 0.5, currency: "EUR" } },
      "`cost.microUnits` must be a whole",
    ],
    [{ status: "succeeded", cost: { microUnits: -5, currency: "EUR" } }, "`cost.microUnits` must"],
    [{ status: "succeeded", cost: { microUnits: 5, currency: "eur" } }, "`cost.currency` must"],
    [{ status: "succeeded", cost: { amount: 5, currency: "EUR" } }, "amount"],
    [{ status: "succeeded", cost: {} }, "`cost.microUnits` must"],
    [{ status: "failed", error: "no" }, "`error` must be an object"],
  ])("rejects %j with the problem", (report, message) => {
    expect(() => checkReport(report as CallReport)).toThrow(message);
  });
});
