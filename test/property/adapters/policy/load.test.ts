// Laws of the loader: it never throws, every problem has a place in a file it was given, and the
// form of a policy (order, position, file, JSON or YAML) does not change its revision.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { writeYaml } from "../../../../services/adapters/policy/write-yaml.ts";
import { lintPolicy } from "../../../../services/cli/policy/lint.ts";

const ROOT = new URL("../../../../", import.meta.url);
const T1 = readFileSync(new URL("test/fixtures/policies/templates/t1.yaml", ROOT), "utf8");
const PAGES = ["policy.md", "effects.md", "sensitive-arguments.md"];
const pages = PAGES.map((page) => readFileSync(new URL(`docs/${page}`, ROOT), "utf8")).join("\n");
const EXAMPLES = [...pages.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
/** Examples of cases are no policies. */
const TEXTS = [T1, ...EXAMPLES.filter((text) => !/^cases:/m.test(text))];

/** Throws where a result breaks the law that every problem says where, what and how to fix it. */
function expectLocations(name: string, text: string): void {
  const result = loadPolicy([{ name, text }]);
  const problems = result.ok ? lintPolicy(result.document, result.source) : result.problems;
  const lines = text.split("\n").length;
  for (const { file, line, column, message, remedy } of problems) {
    expect(file).toBe(name);
    expect(line).toBeGreaterThanOrEqual(1);
    expect(line).toBeLessThanOrEqual(lines + 1);
    expect(column).toBeGreaterThanOrEqual(1);
    expect(message).not.toBe("");
    expect(remedy).not.toBe("");
  }
}

test("any text is a policy or a list of problems with places", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => expectLocations("p.yaml", text)));
});

/** A valid policy with one piece replaced, removed or doubled. */
const mutated = fc
  .tuple(
    fc.constantFrom(...TEXTS),
    fc.nat(),
    fc.nat({ max: 30 }),
    fc.constantFrom(
      "",
      "x",
      "{}",
      "[",
      ":",
      "off",
      "-1",
      "null",
      "\n",
      "  ",
      "&a ",
      "*a",
      "|",
      "'",
    ),
  )
  .map(([text, at, length, piece]) => {
    const start = at % text.length;
    return text.slice(0, start) + piece + text.slice(start + length);
  });

test("a damaged policy is a policy or a list of problems with places", () => {
  fc.assert(
    fc.property(mutated, (text) => expectLocations("p.yaml", text)),
    { numRuns: 500 },
  );
});

test("any object is a policy or a list of problems", () => {
  fc.assert(
    fc.property(fc.object({ withDate: true, withMap: true, withNullPrototype: true }), (value) => {
      const result = loadPolicy(value);
      expect(result.ok || result.problems.length > 0).toBe(true);
    }),
  );
});

test("order, position, file and notation do not change the revision", () => {
  fc.assert(
    fc.property(fc.constantFrom(...TEXTS), fc.infiniteStream(fc.nat()), (text, random) => {
      const parsed = parse(text) as Record<string, unknown>;
      const blocks = Object.entries((parsed["policy_engine"] ?? parsed) as object);
      const shuffled = blocks
        .map((block) => ({ block, key: random.next().value as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ block }) => block);
      const cut = (random.next().value as number) % (shuffled.length + 1);
      const [first, second] = [shuffled.slice(0, cut), shuffled.slice(cut)].map(Object.fromEntries);
      const files = [first, { policy_engine: second }].filter((part) => part !== undefined);
      const revisions = [
        loadPolicy([{ name: "a", text }]),
        loadPolicy(parsed),
        loadPolicy([{ name: "a", text: JSON.stringify(parsed) }]),
        loadPolicy(
          files
            .filter((part) => Object.keys(part.policy_engine ?? part).length > 0)
            .map((part, at) => ({ name: String(at), text: writeYaml(part) })),
        ),
      ].map((result) => (result.ok ? result.digest : result.problems));
      expect(new Set(revisions).size).toBe(1);
    }),
  );
});
