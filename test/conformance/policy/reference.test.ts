// The pages for policy authors are complete together, and each of their examples is a valid policy.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import { readCases } from "../../../services/adapters/policy/read-cases.ts";
import { NORMALIZER_NAMES } from "../../../services/core/normalize/compile-normalizers.ts";
import { compilePolicy } from "../../../services/core/policy/compile-policy.ts";
import { formatProblem } from "../../../services/core/policy/problem.ts";
import { REASON_CODES } from "../../../services/core/reasons/reasons.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";

const ROOT = new URL("../../../", import.meta.url);
const PAGES = [
  "policy.md",
  "policy-reference.md",
  "reason-codes.md",
  "policy-testing.md",
  "policies-annotated.md",
  "effects.md",
  "sensitive-arguments.md",
  "canonical.md",
];
const reference = PAGES.map((page) => readFileSync(new URL(`docs/${page}`, ROOT), "utf8")).join(
  "\n",
);
const schema: unknown = JSON.parse(
  readFileSync(new URL("schemas/policy.schema.json", ROOT), "utf8"),
);

const words = new Set(reference.match(/[A-Za-z_][A-Za-z0-9_]*/g));

describe("the reference", () => {
  it("names every key", () => {
    const keys = new Set<string>();
    collectKeys(schema, keys);
    expect(keys.size).toBeGreaterThan(80);
    expect([...keys].filter((key) => !words.has(key))).toEqual([]);
  });

  it("names every reason code and every normalizer", () => {
    expect(REASON_CODES.filter((code) => !words.has(code))).toEqual([]);
    expect(NORMALIZER_NAMES.filter((name) => !words.has(name))).toEqual([]);
  });

  const examples = [...reference.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

  it("has examples", () => {
    expect(examples.length).toBeGreaterThan(6);
  });

  const isOfCases = (text: string) => /^cases:/m.test(text);

  it.each(examples.filter(isOfCases))("has valid cases: %s", (text) => {
    expect(readCases({ name: "example", text })).toMatchObject({ ok: true });
  });

  it.each(examples.filter((text) => !isOfCases(text)))(
    "has an example that loads and compiles: %s",
    (text) => {
      expect(problemsOf("example", text)).toEqual([]);
    },
  );
});

describe("the page on commands", () => {
  const page = readFileSync(new URL("docs/commands.md", ROOT), "utf8");
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const [policies, rules] = ["authorization:", "commands:"].map((key) =>
    blocks.filter((text) => text.startsWith(key)),
  );
  const [policy = ""] = policies ?? [];

  it("has a policy whose examples are decided as stated", () => {
    expect(policy.match(/^ {6,8}examples:/gm)?.length).toBe(4);
    expect(problemsOf("docs/commands.md", policy)).toEqual([]);
  });

  it("has a policy whose examples are checked", () => {
    const changed = policy.replace('denied: ["rm -rf ~"]', 'denied: ["rm -rf dist"]');
    expect(problemsOf("docs/commands.md", changed).join()).toContain("is allowed, not denied");
  });

  it("has rules that load in the tool of the policy", () => {
    expect(rules).toHaveLength(1);
    const tool = `  bash:\n${(rules?.[0] ?? "").replaceAll(/^(?=.)/gm, "    ")}`;
    const head = policy.slice(0, policy.indexOf("  bash:\n"));
    expect(problemsOf("docs/commands.md", head + tool)).toEqual([]);
  });
});

function problemsOf(name: string, text: string): readonly string[] {
  const loaded = loadPolicy([{ name, text }]);
  if (!loaded.ok) return loaded.problems.map(formatProblem);
  const compiled = compilePolicy(loaded.document, capabilities, {
    revision: loaded.digest,
    keyId: "k1",
  });
  return compiled.ok ? [] : compiled.problems.map(({ path, message }) => `${path}: ${message}`);
}

function collectKeys(node: unknown, keys: Set<string>): void {
  if (typeof node !== "object" || node === null) return;
  const { properties } = node as { readonly properties?: object };
  for (const key of Object.keys(properties ?? {})) keys.add(key);
  for (const child of Object.values(node)) collectKeys(child, keys);
}
