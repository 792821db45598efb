// Loads gates for a real broker from a copy of the sources.
import { onTestFinished } from "vitest";
import type * as twoOwners from "../kafka/two-owners.ts";
import { EditedCopy } from "./edited-copy.ts";
import { KAFKA_SAFEGUARDS, RUNTIME_SAFEGUARDS, STOCK_SENDS } from "./safeguards.ts";

const SAFEGUARDS = { ...RUNTIME_SAFEGUARDS, ...KAFKA_SAFEGUARDS, ...STOCK_SENDS };

export type Safeguard = keyof typeof SAFEGUARDS;
export type Gates = Pick<
  typeof twoOwners,
  "makeWorld" | "startCounted" | "startUnaware" | "untilTaken"
>;

/**
 * A module of `test/support/kafka`, with all that it imports, without one safeguard. For one test.
 */
export function loadWithout<M>(safeguard: Safeguard, name: string): Promise<M> {
  const copy = new EditedCopy(SAFEGUARDS[safeguard]);
  onTestFinished(() => copy.remove());
  return copy.load<M>(`test/support/kafka/${name}`);
}

export function loadGatesWithout(safeguard: Safeguard): Promise<Gates> {
  return loadWithout<Gates>(safeguard, "two-owners.ts");
}
