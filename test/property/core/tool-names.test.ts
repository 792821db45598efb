// No spelling of a tool's name evades a rule that restricts the tool.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { compileToolGlobs } from "../../../services/core/policy/tool-glob.ts";
import { readToolName } from "../../../services/core/tool-name.ts";
import { startStory } from "../../support/decider-spec.ts";

const words = fc.array(fc.stringMatching(/^[a-z]{2,8}$/), { minLength: 1, maxLength: 3 });
const separator = fc.constantFrom("_", "__", "-", ".", "/", ":", "::", "-_");
const server = fc.constantFrom("", "github/", "mcp__fs__", "a.b:", "gh-", "x__");

/** One letter of a word as a capital, or as another character that NFKC maps to it. */
function letterOf(letter: string, pick: number): string {
  if (pick === 1) return letter.toUpperCase();
  return pick === 2 ? String.fromCodePoint(0xff41 + letter.charCodeAt(0) - 97) : letter;
}

/** `words` under some server's name, with other separators, capitals and letter forms. */
function respelled(parts: readonly string[]): fc.Arbitrary<string> {
  const picks = fc.array(fc.nat(2), { minLength: 30, maxLength: 30 });
  return fc
    .tuple(server, fc.array(separator, { minLength: 3, maxLength: 3 }), picks)
    .map(([before, between, pick]) => {
      let at = 0;
      const spelled = parts.map((part) =>
        [...part].map((one) => letterOf(one, pick[at++] ?? 0)).join(""),
      );
      return (
        before + spelled.reduce((name, part, index) => name + (between[index - 1] ?? "_") + part)
      );
    });
}

const spelling = words.chain((parts) =>
  respelled(["delete", ...parts]).map((name) => ({
    declared: ["delete", ...parts].join("_"),
    name,
  })),
);

const HOLDS: PolicyDocument = {
  authorization: {
    tiers: [
      { name: "removals", pattern: "delete_*", action: "hitl" },
      { name: "rest", pattern: "*", action: "allowlist" },
    ],
  },
};

describe("a respelled tool", () => {
  test("is held by the tier that holds the plain name, before a tier that allows everything", () => {
    fc.assert(
      fc.property(spelling, ({ name }) => {
        expect(startStory(HOLDS).proposed(name).type).toBe("held");
      }),
    );
  });

  test("is denied and killed as the plain name is", () => {
    const [, rest] = HOLDS.authorization?.tiers ?? [];
    const deny = { name: "no", pattern: "delete_*", action: "deny" } as const;
    const denies: PolicyDocument = { authorization: { tiers: [deny, ...(rest ? [rest] : [])] } };
    const kills: PolicyDocument = {
      authorization: { tiers: rest ? [rest] : [] },
      kill: { tools: ["DELETE_*"] },
    };
    fc.assert(
      fc.property(spelling, ({ name }) => {
        expect(startStory(denies).reason(name)).toBe("tier_denied");
        expect(startStory(kills).reason(name)).toBe("killed");
      }),
    );
  });

  test("is unknown beside its declared name, and the refusal gives the declared one", () => {
    fc.assert(
      fc.property(
        spelling,
        fc.constantFrom("deny", "allow", "hitl"),
        ({ declared, name }, unknown) => {
          const plain = readToolName(name);
          fc.pre(plain.ok && plain.name !== declared);
          // A server's name in front makes another name, which the tiers judge.
          const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, "");
          fc.pre(plain.ok && letters(plain.name) === letters(declared));
          const story = startStory({ tool_schemas: { [declared]: {} }, unknown_tools: unknown });
          const { refusal } = story.refused(name);
          expect(refusal.reason).toBe("unknown_tool");
          expect(refusal.message).toContain(`The tool is called \`${declared}\``);
          expect(story.proposed(declared).type).toBe("allowed");
        },
      ),
    );
  });

  test("is judged at least as strictly as its declared name where unknown tools only warn", () => {
    const story = startStory({
      checks: { unknown_tool: "warn" },
      tool_schemas: { wipe: { risk_level: "HIGH" } },
    });
    expect(story.proposed("Wipe").type).toBe("held");
  });
});

describe("a name", () => {
  const hidden = fc.constantFrom(
    "\u200b",
    "\u202e",
    "\u00ad",
    "\u0000",
    "\u009b",
    "\ufeff",
    "\u2060",
    "\u3164",
  );

  test("with a space at its edge, a hidden character, a foreign letter or a backtick is refused", () => {
    const name = fc.stringMatching(/^[a-z_]{1,12}$/);
    const edge = fc.constantFrom(" ", "\u00a0", "\u3000");
    const foreign = fc.constantFrom("\u0430", "\u03bf", "\u0131", "`");
    const wrong = fc.oneof(
      fc.tuple(name, edge).map(([text, blank]) => text + blank),
      fc.tuple(name, edge).map(([text, blank]) => blank + text),
      fc.tuple(name, fc.oneof(hidden, foreign), name).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(wrong, (text) => {
        expect(readToolName(text).ok).toBe(false);
        const refused = startStory({
          authorization: { tiers: [{ name: "all", pattern: "*", action: "allowlist" }] },
        }).refused(text);
        expect(refused.refusal.reason).toBe("malformed");
        expect(refused.call.tool).toMatch(/^[ -_a-~]*$/);
      }),
    );
  });

  test("is normalized once: the result does not change again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), (text) => {
        const read = readToolName(text);
        if (!read.ok) return;
        expect(readToolName(read.name)).toEqual(read);
        expect(read.name).toMatch(/^[!-_a-~]([ -_a-~]*[!-_a-~])?$/);
      }),
    );
  });
});

describe("a pattern that allows", () => {
  test("matches a name by case alone, with no other separator and no server in front", () => {
    fc.assert(
      fc.property(words, ([first = "get", ...more]) => {
        const allows = compileToolGlobs(`${first}_*`, false);
        const name = [first, ...more, "x"].join("_");
        expect(allows(name.toUpperCase())).toBe(true);
        expect([`evil/${name}`, `evil__${name}`, name.replace("_", "-")].filter(allows)).toEqual(
          [],
        );
      }),
    );
  });
});
