import { expect, test } from "vitest";
import { compiled } from "../../../support/core/compile.ts";

test("readers read the same resource, or one that contains it or is contained in it, whatever its placeholders are called", () => {
  const { readersOf } = compiled({
    tool_schemas: {
      pay: { effects: [{ resource: "order/{order_id}/payment", kind: "charge" }] },
      get_order: { reads: ["order/{id}"] },
      get_payment: { reads: ["order/{id}/payment"] },
      get_orders: { reads: ["orders"] },
    },
  });
  expect(readersOf("pay")).toEqual(["get_order", "get_payment"]);
  expect(readersOf("get_order")).toEqual([]);
  expect(readersOf("nobody")).toEqual([]);
});

test("without such reads, declared reads named after the resource are its readers", () => {
  const { readersOf } = compiled({
    authorization: { tiers: [{ name: "reads", pattern: "list_*", action: "allowlist" }] },
    tool_schemas: {
      bill: { side_effect_resource: "invoice", canonical_fields: ["id"] },
      get_invoice: { read_only: true },
      read_invoice: {},
    },
  });
  expect(readersOf("bill")).toEqual(["get_invoice", "list_invoice", "list_invoices"]);
});
