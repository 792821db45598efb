// A word that is not seen may be an option that a rule asks about.
import { describe, expect, test } from "vitest";
import type { VariantRule } from "../../../../services/core/policy/document.ts";
import { optionsAsked } from "../../../../services/core/policy/options-asked.ts";
import { toolOfCall } from "../../../../services/core/policy/tool-of-call.ts";
import { compiled } from "../../../support/core/compile.ts";

const ALL = "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

test.each([
  [{ match: "^rm -rf /" }, ["-rf", ALL, "-r", "-f"]],
  [{ match: "^rm (.* )?(-\\w*[rR]|--r)\\S* /" }, [ALL, "-r", "-R", "--r"]],
  [{ match: "^a --(force|no-verify)" }, ["--force", "--no-verify"]],
  [{ equals: ["git push --force"], like: "npm ci -g*" }, ["--force", "-g", ALL]],
  [{ match: "^apt-get (remove|purge)" }, []],
] as const)("the options of %j are %j", (rule: VariantRule, options) => {
  expect(optionsAsked(rule)).toEqual(options);
});

function tierOf(...rules: readonly VariantRule[]) {
  const policy = compiled({
    authorization: { tiers: [{ name: "never", pattern: "nobody", action: "deny" }] },
    tool_schemas: { bash: { variants: { set: "posix_shell", rules } } },
  });
  return (command: string) => toolOfCall(policy, "bash", { command }).tier.name;
}

describe("an expansion without quotes in the place of options", () => {
  const tier = tierOf(
    { match: "^rm (.* )?-\\w*r\\w* /", tier: "never" },
    { match: "^git push (-f|--force)", tier: "never" },
    { equals: ["make -k all"], tier: "never" },
  );

  test.each([
    "rm $(echo -rf) /",
    "rm `echo -rf` /",
    `rm $${"{X:--rf}"} /`,
    "rm $X /",
    "rm -v $A $B /",
    "rm $X -rf /",
    "sudo rm $X /",
    "sh -c 'rm $X /'",
    "git push $X origin",
    "make $X all",
  ])("may be one that a rule asks about: %s", (command) => {
    expect(tier(command)).toBe("never");
  });

  test.each([
    "rm $FILE",
    'rm "$FILE" /',
    "rm -- $FILE /",
    "rm a $FILE /",
    "rm $FILE b",
    "rm -f $FILE",
    "git push $REMOTE",
    "git push origin $(git branch --show-current)",
    "git status $X a",
    "echo $X /",
  ])("is none behind an operand, as the last word, and where no rule would fit: %s", (command) => {
    expect(tier(command)).not.toBe("never");
  });

  test("that expands to nothing is no word", () => {
    expect(tierOf({ equals: ["npm ci"], tier: "never" })("npm ci $X")).toBe("never");
    expect(tierOf({ equals: ["npm ci"], tier: "never" })('npm ci "$X"')).not.toBe("never");
  });

  test("is tried in so many commands of a line", () => {
    const line = (count: number) => tier("a $X b;".repeat(count));
    // Two texts each, and the gap counts as sixteen.
    expect([455, 456].map(line)).toEqual([null, "never"]);
  });
});

test("of a rule that names more than 64 options the first ones count", () => {
  const named = (count: number) => Array.from({ length: count }, (_, at) => `--x${at}`);
  const asked = (count: number) => optionsAsked({ equals: named(count) } as VariantRule);
  expect([64, 65].map((count) => asked(count).length)).toEqual([64, 64]);
  expect(asked(65)).toEqual(named(64));
});
