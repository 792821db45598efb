// What a test learns about a backend. All tests of a run share the backends, which start once, when the
// first test asks, and end with the run.
import { inject } from "vitest";
import { saySkipped } from "../skipped.ts";

export type PartName = "kafka" | "redis" | "registry";

export type PartAnswer =
  | { readonly available: true; readonly address: string; readonly how: string }
  | { readonly available: false; readonly reason: string };

declare module "vitest" {
  // Adds our value to the interface of the values that vitest provides to tests.
  interface ProvidedContext {
    /** The address at which the main process of the run says which parts exist. */
    backendsUrl: string;
  }
}

export type Backend = {
  readonly available: boolean;
  /** Use it only when `available`. */
  readonly address: string;
  /** Why it is not available; empty when it is. */
  readonly reason: string;
};

export async function askForPart(
  part: PartName,
  url: string = inject("backendsUrl"),
): Promise<Backend> {
  const response = await fetch(`${url}/${part}`);
  if (!response.ok) {
    throw new Error(`${part} could not be started: ${await response.text()}`);
  }
  const answer = (await response.json()) as PartAnswer;
  if (answer.available) return { available: true, address: answer.address, reason: "" };
  saySkipped(part, answer.reason);
  return { available: false, address: "", reason: answer.reason };
}
