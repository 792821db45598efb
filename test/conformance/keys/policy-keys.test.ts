// Every key of the policy's vocabulary changes some decision, or something that a decision says.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Decision } from "../../../services/client/api/gate-types.ts";
import { CallgateError } from "../../../services/library/callgate.ts";
import { gatherCheckExamples } from "../../support/gate-story/check-examples.ts";
import { GateStory } from "../../support/gate-story/gate-story.ts";
import type { KeyRow, KeyStep } from "../../support/gate-story/key-row.ts";
import { KEY_ROWS } from "../../support/gate-story/policy-key-rows.ts";
import { setIn } from "../../support/gate-story/set-in.ts";

const ROWS: readonly KeyRow[] = [
  ...KEY_ROWS,
  ...(await gatherCheckExamples()).flatMap(({ keys }) => keys),
];

/** Keys that take one value or only contain others, and `examples`, which change no decision. */
const WITHOUT_A_CHOICE = [
  "policy_engine",
  "idempotency.generation",
  "idempotency.header",
  "tool_schemas.*.commands.examples",
  "tool_schemas.*.commands.examples.allowed",
  "tool_schemas.*.commands.examples.held",
  "tool_schemas.*.commands.examples.denied",
];

type Schema = { readonly [key: string]: Schema };

const schema = JSON.parse(
  readFileSync(new URL("../../../schemas/policy.schema.json", import.meta.url), "utf8"),
) as Schema;

function targetOf(ref: string): Schema {
  return ref
    .split("/")
    .slice(1)
    .reduce((at, part) => at[part] as Schema, schema);
}

/** The schemas that a value at this position may have, including itself. */
function formsOf(node: Schema, seen: readonly string[]): readonly Schema[] {
  const ref = node["$ref"] as unknown as string | undefined;
  const inner = ["anyOf", "oneOf", "allOf"].flatMap(
    (word) => (node[word] ?? []) as unknown as readonly Schema[],
  );
  const targets = ref === undefined || seen.includes(ref) ? [] : [targetOf(ref)];
  const next = ref === undefined ? seen : [...seen, ref];
  return [node, ...[...inner, ...targets].flatMap((part) => formsOf(part, next))];
}

const LEAVES = ["policy_engine", "input_schema"];

function keysOf(node: Schema, path: string, into: Set<string>): void {
  for (const form of formsOf(node, [])) {
    for (const [key, value] of Object.entries(form["properties"] ?? {})) {
      const inner = path === "" ? key : `${path}.${key}`;
      into.add(inner);
      if (!LEAVES.includes(key)) keysOf(value, inner, into);
    }
    for (const [word, mark] of INNER) {
      if (typeof form[word] === "object") keysOf(form[word], `${path}.${mark}`, into);
    }
  }
}

const INNER = [
  ["additionalProperties", "*"],
  ["items", "[]"],
] as const;

const keys = new Set<string>();
keysOf(schema, "", keys);

/** Conditions have one language everywhere. Rules of `variants` and `commands`, and `otherwise`, take the same keys, and one table of code reads them. */
function asRule(key: string): string {
  const own = /\.(?:run|paths|writes|statement|tables|method|host|path|why|when)$/;
  if (own.test(key)) return key;
  return (
    key
      // One table of code reads the tests of all conditions.
      .replace(/^.*\.when\.(?:\[\]\.)?\*/, "authorization.tiers.[].when.*")
      .replace(/\.when\.\[\]$/, ".when")
      .replace(/\.variants\.otherwise(\.|$)/, ".variants.rules.[]$1")
      .replace(/\.commands\.rules\.\[\](\.|$)/, ".variants.rules.[]$1")
  );
}

test("every policy key has a row, and every row a key", () => {
  const rows = ROWS.map(({ key }) => key);
  expect(keys.size).toBeGreaterThan(100);
  const without = [...keys].filter((key) => {
    const own = asRule(key);
    const hasRow = rows.some((row) => row === own || row.startsWith(`${own}.`));
    const deeper = rows.some((row) => own.startsWith(`${row}.`));
    return !hasRow && !deeper && !WITHOUT_A_CHOICE.includes(key);
  });
  expect(without).toEqual([]);
  expect(rows.filter((row) => !keys.has(row))).toEqual([]);
});

/** A decision without the ids of its policy. */
function said(decision: Decision): object {
  const {
    decisionId: _id,
    approvalId: _approval,
    idempotencyKey: _key,
    refusal,
    ...rest
  } = decision;
  if (refusal === undefined) return rest;
  const { decisionId: _own, policy: _policy, rule: _rule, resolution, ...refusalFields } = refusal;
  return {
    ...rest,
    refusal: { ...refusalFields, resolution: { ...resolution, approvalId: null } },
  };
}

class Teller {
  readonly #story: GateStory;
  readonly #keys: string[] = [];
  readonly heard: object[] = [];
  #held: Decision | undefined;

  constructor(story: GateStory) {
    this.#story = story;
  }

  async step(step: KeyStep): Promise<void> {
    if (step.afterMs !== undefined) this.#story.after(step.afterMs);
    if (step.turn !== undefined) this.#story.turn(step.turn);
    if (step.approve !== undefined) await this.#approve(step.approve);
    if (step.returns !== undefined) await this.#guarded(step.tool ?? "", step);
    else if (step.tool !== undefined) await this.#call(step.tool, step);
  }

  async #guarded(tool: string, { args, returns }: KeyStep): Promise<void> {
    const handlers = { [tool]: (_: unknown) => returns };
    const tools = this.#story.gate.guard(handlers, { conversationId: "c", turn: 1 });
    this.heard.push({ answer: await tools[tool]?.(args ?? {}) });
  }

  async #approve(verdict: { readonly by: string }): Promise<void> {
    const word = this.#story.approve(this.#held as Decision, verdict);
    const decided = await word.then(said, (error: unknown) => {
      if (error instanceof CallgateError) return { error: error.code };
      throw error;
    });
    this.heard.push(decided);
  }

  async #call(tool: string, step: KeyStep): Promise<void> {
    const decision = await this.#story.propose(tool, step.args ?? {}, step.overrides ?? {});
    if (decision.outcome === "held") this.#held = decision;
    const key = decision.idempotencyKey;
    if (key !== undefined && !this.#keys.includes(key)) this.#keys.push(key);
    const text = JSON.stringify({ ...said(decision), key: this.#keys.indexOf(key ?? "") });
    this.heard.push({ text: key === undefined ? text : text.replaceAll(key, "the key") });
    if (decision.outcome !== "allowed" || step.unreported === true) return;
    const { fails, output = "fine" } = step;
    await this.#story.report(
      decision,
      fails === undefined ? { status: "succeeded", output } : { status: "failed", error: fails },
    );
  }
}

async function heardUnder(row: KeyRow, value: unknown): Promise<readonly object[]> {
  const story = await GateStory.open({ policy: setIn(row.base, row.key, value, row.name) });
  try {
    const teller = new Teller(story);
    for (const step of row.steps) await teller.step(step);
    return teller.heard;
  } finally {
    await story.close();
  }
}

describe("changes what is decided", () => {
  test.each(ROWS.map((row) => [row.key, row] as const))("%s", async (_, row) => {
    const one = await heardUnder(row, row.values[0]);
    const again = await heardUnder(row, row.values[0]);
    const other = await heardUnder(row, row.values[1]);
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });
});
