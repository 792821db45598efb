// Whatever a line contains, rules that allow apply only where all of it is understood.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STRICTNESS } from "../../../services/core/policy/compile-tiers.ts";
import type { CommandsDocument } from "../../../services/core/policy/document.ts";
import { toolFor } from "../../support/core/judge.ts";

const RULES: CommandsDocument = {
  unclear: "ask",
  rules: [
    { run: ["rm|mv"], writes: "root_or_home", tier: "never" },
    { run: ["git push"], tier: "never" },
    { run: ["git add|commit|checkout -b", "npm test"], tier: "free" },
    { run: ["cp|mv|rm|mkdir|touch|>"], tier: "free" },
  ],
};
const toolOf = toolFor(RULES);
const of = (command: string) => toolOf({ command });
const strictness = (command: string) => STRICTNESS[of(command).tier.action];

const argument = fc.constantFrom(
  "a",
  "src/b.ts",
  "./c",
  "../d",
  "/etc/hosts",
  "~/e",
  "/tmp/f",
  ".env",
  "-x",
  "*",
);
const begun = fc.constantFrom(
  ..."ls|cat|head -n 3|rm|rm -rf|cp a|mv|touch|git status|git push|git add|git checkout -b|npm test|frob|xargs rm|timeout 5 cat|sort -o".split(
    "|",
  ),
);
/** A command of words that every shell reads alike. */
const command = fc
  .tuple(
    begun,
    fc.array(argument, { maxLength: 3 }),
    fc.constantFrom("", "", " > out", " < in", " >> /etc/x"),
  )
  .map(([words, args, file]) => [words, ...args].join(" ") + file);
const joint = fc.constantFrom(" && ", " || ", "; ", " | ", "\n");

describe("a line of commands", () => {
  it("is never laxer with one command more", () => {
    fc.assert(
      fc.property(command, joint, command, (first, between, second) => {
        const whole = strictness(first + between + second);
        expect(whole).toBeGreaterThanOrEqual(strictness(first));
        expect(whole).toBeGreaterThanOrEqual(strictness(second));
      }),
      { numRuns: 2_000 },
    );
  });

  it("is judged the same in any spelling of equal words", () => {
    const spell = fc.constantFrom<(word: string) => string>(
      (word) => word,
      (word) => `'${word}'`,
      (word) => `"${word}"`,
      (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
    );
    const word = fc.constantFrom("a", "src/b.ts", "/etc/hosts", "-r", ".env", "../x");
    const line = fc.tuple(
      fc.constantFrom("rm", "cat", "git add", "frob"),
      fc.array(word, { maxLength: 4 }),
    );
    fc.assert(
      fc.property(
        line,
        fc.array(spell, { minLength: 6, maxLength: 6 }),
        ([program, words], spells) => {
          const plain = [...program.split(" "), ...words];
          const spelled = plain
            .map((one, at) => spells[at % spells.length]?.(one) ?? one)
            .join("  ");
          const [one, other] = [of(plain.join(" ")), of(` ${spelled} ;`)];
          expect([other.tier.name, other.isRead, other.why]).toEqual([
            one.tier.name,
            one.isRead,
            one.why,
          ]);
          const textOf = (text: string) => {
            const identity = one.identity({ command: text }, "");
            return identity.ok ? identity.text : null;
          };
          expect(textOf(spelled)).toBe(textOf(plain.join(" ")));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("a command that is not understood", () => {
  const hidden = fc.constantFrom(
    "$(id)",
    '"$(id)"',
    "`id`",
    "$X",
    '"${X:-a}"',
    "<(id)",
    "$((1))",
    "{a,b}",
  );

  it("is allowed by no rule, and is no read", () => {
    fc.assert(
      fc.property(command, hidden, (text, part) => {
        const { tier, isRead } = of(`${text} ${part}`);
        expect([tier.action === "allowlist", tier.action === "allow", isRead]).toEqual([
          false,
          false,
          false,
        ]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is no read where a program or an option is unknown", () => {
    const reads = fc.constantFrom(
      "ls",
      "cat a",
      "head -n 3 a",
      "git status",
      "git log",
      "sort a",
      "grep b a",
    );
    fc.assert(
      fc.property(reads, fc.stringMatching(/^[a-z]{3,9}$/), (text, name) => {
        const tool = of(`${text} --zz-${name}`);
        expect([tool.isRead, tool.tier.name]).toEqual([false, "ask"]);
        expect(of(`zz${name} a`).isRead).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it("is not allowed in a text of random letters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        const verdicts = of(`frob ${text}`);
        expect(verdicts.tier.name).toBe("ask");
      }),
      { numRuns: 1_000 },
    );
  });
});
