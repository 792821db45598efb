// Rules on words, paths and secrets, each tested with lines on either side of it.
import { describe, expect, test } from "vitest";
import type { CommandsDocument } from "../../../services/core/policy/document.ts";
import { judge } from "../../support/core/judge.ts";

/** The tier of a line, and whether it is a read; null: no tier, as for a read that needs none. */
const judgeUnder = (
  rules: NonNullable<CommandsDocument["rules"]>,
  more: Partial<CommandsDocument> = {},
) => {
  const verdict = judge({ unclear: "ask", rules, ...more });
  return (command: string) => verdict({ command })[0];
};

describe("a secret", () => {
  const tier = judgeUnder([{ run: ["find|tar"], tier: "free" }]);

  test.each([
    "grep -r --include='.env*' KEY .",
    "grep -r --include '*.pem' KEY .",
    "grep -r --include='*.env' KEY .",
    "grep -r --include='*nv' KEY .",
    "grep -r --include='.e?v' KEY .",
    "rg -g '.env' KEY",
    "rg -g '/deploy/*.key' KEY",
    "rg --iglob='ID_RS[A]' KEY",
    "find . -name '*.pem' | xargs cat",
    "find . -iname '.ENV' | xargs -n1 head",
    "find . -path '*/.aws/*' | xargs cat",
    "find . -not -name a -name '*.key' | xargs wc -l",
    "find . -name '*.pem' -delete",
    "fd -H -g '.env*' | xargs cat",
    "rg --files -g '*.key' | xargs cat",
    "git ls-files '*.pem' | xargs cat",
    "cat *.pem",
    "head .en?",
  ])("needs approval where a program opens a file that matches a pattern: %s", (command) => {
    expect(tier(command)).toBe("ask");
  });

  test.each([
    "grep -rn --include='*.ts' KEY src",
    "grep -rn --include='*' KEY src",
    "grep -rn --exclude='.env*' KEY src",
    "rg -g '!.env*' -g '*.{ts,tsx}' KEY",
    "find . -name '*.pem'",
    "find src -name '*.ts' | xargs wc -l",
    "fd -g '*.py' src | xargs wc -l",
    "cat src/*.ts",
  ])("is none where its name is only printed, excluded, or of another kind: %s", (command) => {
    expect(tier(command)).not.toBe("ask");
  });

  test.each([
    "find . -regex '.*/\\.env' | xargs cat",
    "fd '\\.env$' | xargs cat",
    "fd -e pem | xargs cat",
  ])("may be a file that a regular expression matches: %s", (command) => {
    expect(tier(command)).toBe("ask");
  });

  test("is none where the policy makes an exception, unless a pattern may match another file as well", () => {
    expect(tier("cat .env.example")).toBe(null);
    expect(tier("cat .env.local")).toBe("ask");
    expect(tier("cat .env.ex*")).toBe("ask");
    const own = judgeUnder([], { secrets: ["*.pem", "!public.pem"] });
    expect(own("cat public.pem")).toBe(null);
    expect(own("cat keys/private.pem")).toBe("ask");
    expect(own("cat .env")).toBe(null);
  });
});

describe("a rule that names words", () => {
  test("is about the command without more words where the last alternative is empty", () => {
    const tier = judgeUnder([{ run: ["make {|test|lint*}"], tier: "free" }]);
    expect(["make", "make test", "make lint-all", "make -j4"].map(tier)).toEqual(
      Array(4).fill("free"),
    );
    expect(["make deploy", "make install test", "make X=1"].map(tier)).toEqual(
      Array(3).fill("ask"),
    );
  });

  test("expands groups at any position", () => {
    const tier = judgeUnder([
      { run: ["{npm|pnpm} run {build|test}", "git branch|log --{all|oneline}"], tier: "free" },
    ]);
    expect(["npm run build", "pnpm run test -- -x", "git log -3 --all"].map(tier)).toEqual(
      Array(3).fill("free"),
    );
    expect(["yarn run build", "npm run deploy", "npm test"].map(tier)).toEqual(
      Array(3).fill("ask"),
    );
  });

  test("allows a command that reaches another machine by an option alone only where it names an option", () => {
    const plain = judgeUnder([{ run: ["rsync"], tier: "free" }]);
    expect(plain("rsync -a src/ out/")).toBe("free");
    expect(plain("rsync -a src/ host:out/")).toBe("ask");
    const withOption = judgeUnder([{ run: ["rsync -a"], tier: "free" }]);
    expect(withOption("rsync -a src/ host:out/")).toBe("free");
    expect(judgeUnder([{ run: ["rsync"], tier: "never" }])("rsync -a src/ host:out/")).toBe(
      "never",
    );
  });
});

describe("a line that changes to the root of its repository", () => {
  const tier = judgeUnder([{ run: ["npm test"], tier: "free" }]);

  test("works in the workspace where the words are quoted, since `cd ''` stays", () => {
    expect(tier('cd "$(git rev-parse --show-toplevel)" && npm test')).toBe("free");
    expect(tier("cd $(git rev-parse --show-toplevel) && npm test")).toBe("ask");
    expect(tier('cd .. && cd "$(git rev-parse --show-toplevel)" && npm test')).toBe("ask");
  });
});

test("a line of more commands than anybody writes is not understood", () => {
  const tier = judgeUnder([]);
  expect(tier("ls\n".repeat(400))).toBe(null);
  expect(tier("ls\n".repeat(600))).toBe("ask");
  expect(tier(`cat ${"'a'\"b\"".repeat(5_000)}`)).toBe("ask");
});
