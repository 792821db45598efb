// Opens a gate that closes at the end of the test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { OpenOptions } from "../../services/client/api/gate-types.ts";
import { type Callgate, openCallgate } from "../../services/library/callgate.ts";

/** Reads, one charge an order, removals that a person approves. */
export const SHOP_POLICY = {
  authorization: {
    tiers: [{ name: "removals", pattern: "delete_*", action: "hitl", expires_ms: 60_000 }],
  },
  tool_schemas: {
    get_order: { read_only: true },
    charge_card: { effects: [{ resource: "order/{order}/payment", kind: "charge" }] },
  },
} as const;

/** Opens the gate in memory, unless the options say otherwise. */
export async function openGate(options: Partial<OpenOptions> = {}): Promise<Callgate> {
  const gate = await openCallgate({ policy: SHOP_POLICY, dataDir: false, ...options });
  onTestFinished(() => gate.close());
  return gate;
}

export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "callgate-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
