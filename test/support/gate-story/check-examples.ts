/**
 * The examples of each check, one file in `test/conformance/checks`: conversations that give its
 * reasons, and values of its keys that change decisions. Rows of keys may also be in
 * `policy-key-rows.ts` beside this file. The reasons that no check gives are in
 * `test/conformance/keys/reason-codes.test.ts`.
 */
import { readdirSync } from "node:fs";
import type { ReasonCode } from "../../../services/core/reasons/reasons.ts";
import type { GateStory } from "./gate-story.ts";
import type { KeyRow } from "./key-row.ts";

export type TellGate = (policy: object) => Promise<GateStory>;

/** Code that produces the outcome of a call. */
export type ReasonCase = (tell: TellGate) => Promise<string>;

export interface CheckExamples {
  readonly reasons: Readonly<Partial<Record<ReasonCode, ReasonCase>>>;
  readonly keys: readonly KeyRow[];
}

const FOLDER = new URL("../../conformance/checks/", import.meta.url);

/** The `examples` of all files of the folder. */
export async function gatherCheckExamples(): Promise<readonly CheckExamples[]> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".ts"));
  const modules = files.map(
    (name) => import(new URL(name, FOLDER).href) as Promise<{ readonly examples: CheckExamples }>,
  );
  return (await Promise.all(modules)).map(({ examples }) => examples);
}
