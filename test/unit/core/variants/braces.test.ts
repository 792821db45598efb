// Braces: bash makes several words of one, other shells leave it as it is, and rules see both.
import { describe, expect, test } from "vitest";
import { readGitLine } from "../../../../services/core/variants/classify-git-line.ts";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

const partsOf = (line: string) => partsOfShell(line, { session: true });
const textsOf = (line: string) => (partsOf(line) ?? []).flatMap((part) => part.texts);

describe("a word with braces", () => {
  test.each([
    ["rm -rf {/,}", "rm -rf /"],
    ["rm -rf {/etc,/usr}", "rm -rf /etc /usr"],
    ["rm -{r,f} /", "rm -r -f /"],
    ["rm {-rf,/}", "rm -rf /"],
    ["echo a{b,c}d{e,f}", "echo abde abdf acde acdf"],
    ["echo {a,{b,c}d}", "echo a bd cd"],
    ["echo {a,b{c}", "echo {a,b{c}"],
    ["echo {{a,b}}", "echo {a} {b}"],
    ["echo {a}{b,c}", "echo {a}b {a}c"],
    ["echo {a,b}}", "echo a} b}"],
    ["echo {a{b,c}", "echo {ab {ac"],
    ["echo {'a,b',c}", "echo a,b c"],
    ['echo ""{,a}', "echo  a"],
    ["echo {1..3}", "echo 1 2 3"],
    ["echo {3..-1..2}", "echo 3 1 -1"],
    ["echo {08..10}", "echo 08 09 10"],
    ["echo {-01..1}", "echo -01 000 001"],
    ["echo -{e..g}", "echo -e -f -g"],
    ["echo {c..a..2}", "echo c a"],
    ["echo {$X,a}", "echo  a"],
    ["cat < {a,b}", "cat {a,b}"],
    ["sudo rm -{r,f} /", "rm -r -f /"],
    ["sh -c 'rm -{r,f} /'", "rm -r -f /"],
  ])("is what bash makes of it: %s", (line, text) => {
    expect(textsOf(line)).toContain(text);
  });

  test("is what is written, too", () => {
    expect(textsOf("rm -{r,f} /")).toEqual(["rm -{r,f} /", "rm -r -f /"]);
  });

  test.each([
    "echo {}",
    "echo {a}",
    "echo a{b",
    "echo {a..}",
    "echo {a..3}",
    "echo '{a,b}'",
    'echo "{a,b}"',
    "echo \\{a,b}",
    "echo {a\\,b}",
    "echo {a,b\\}",
    `echo $${"{X:-a,b}"}`,
  ])("is one word where its braces are none: %s", (line) => {
    expect(partsOf(line)).toHaveLength(1);
  });

  test("hides the command and the subcommand, as other shells see others", () => {
    expect(partsOf("{rm,-rf,/}")).toBeNull();
    expect(partsOf("git {push,origin}")?.[0]?.hidden).toBe(true);
    expect(partsOf("git log {a}")?.[0]?.hidden).toBe(false);
  });

  test("of options in a loop makes its variable one that may be an option", () => {
    expect(partsOf("for f in {-delete,a}; do find . -name $f; done")?.at(-1)?.hidden).toBe(true);
    expect(partsOf("for f in {b,a}; do find . -name $f; done")?.at(-1)?.hidden).toBe(false);
  });
});

test("the arguments of a git command are known with braces and without", () => {
  expect(readGitLine("subtree {push,origin}")?.texts).toEqual(
    expect.arrayContaining(["subtree {push,origin}", "git subtree push origin"]),
  );
  expect(readGitLine("{push,origin}")).toBeNull();
});

describe("braces that become too many words", () => {
  const isRead = (line: string) => partsOf(line) !== null;

  test("are not read", () => {
    expect([8, 9].map((count) => isRead(`echo ${"{a,b}".repeat(count)}`))).toEqual([true, false]);
    const list = (count: number) => `echo {${"a,".repeat(count - 1)}b}`;
    expect([256, 257].map((count) => isRead(list(count)))).toEqual([true, false]);
    expect([64, 65].map((count) => isRead(`echo ${"{".repeat(count)}`))).toEqual([true, false]);
    const long = (length: number) => `echo {a,b}{a,b}${"c".repeat(length)}`;
    expect([16_382, 16_383].map((length) => isRead(long(length)))).toEqual([true, false]);
    const line = (count: number) => `echo {a,b}{a,b}{a,b}${"c".repeat(4_093)} ; `.repeat(count);
    expect([8, 9].map((count) => isRead(line(count)))).toEqual([true, false]);
  });

  test("are not seen where they are a sequence", () => {
    expect(textsOf("echo f{1..256}").at(-1)).toContain("f255 f256");
    expect(textsOf("echo f{1..257}")).toEqual(["echo f{1..257}", "echo f"]);
    expect(isRead("for i in {1..1000000}; do echo $i; done")).toBe(true);
  });
});
