import { expect, test } from "vitest";
import { compiled } from "../../../support/core/compile.ts";

test("readers share the resource, whatever its placeholders are called, or lie within it", () => {
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

test("else reads that are named after the resource, as far as they are known reads", () => {
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
