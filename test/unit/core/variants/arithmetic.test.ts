// Arithmetic is no command: what is substituted in it is.
import { describe, expect, test } from "vitest";
import { readShell } from "../../../support/core/read-shell.ts";

describe("behind a dollar", () => {
  test.each([
    "echo $((i*2))",
    'echo "$((1<<3)) a"',
    "echo $((a > b ? a : -b))",
    "echo $(( (a+b)*2 ))",
    "echo $((2*(a+(b-1))))",
    `echo $((a[i] + $b + \${c} + \${#d[@]} + $#))`,
    "x=$((x*2)); echo $x",
    "cat <<E\n$((i*2))\nE",
  ])("it is read: %s", (line) => {
    const { isSeen, texts } = readShell(line);
    expect([isSeen, texts.filter((text) => /[^\w ]/.test(text))]).toEqual([true, []]);
  });

  test.each([
    "echo $(( $(deploy x) * 2 ))",
    "echo $((($(deploy x)+1)*2))",
    'echo "$(( $(deploy "x") - start ))"',
    "echo $((git push)) $(deploy x)",
    "echo $((deploy x))",
    "((deploy x))",
  ])("what may run in it is seen: %s", (line) => {
    expect(readShell(line).texts).toContain("deploy x");
  });

  test.each([
    "echo $((a) ; deploy x)",
    "echo $((deploy x) )",
    "echo $((a[$(deploy x)]))",
    "echo $((`deploy x`))",
    `echo $(( \${x:-$(deploy x)} ))`,
    "echo $(( $(ls # ) ))",
    "echo $((1*2)",
    "y='a[$(deploy x)]'; echo $((y*2))",
  ])("and is not hidden by it: %s", (line) => {
    const { isSeen, texts } = readShell(line);
    expect(isSeen && !texts.includes("deploy x")).toBe(false);
  });
});

describe("behind `for`", () => {
  test.each([
    "for ((i=0;i<3;i++)); do deploy x; done",
    `for (( i = 0 ; i < \${#a[@]} ; i += 2 )) do deploy x; done`,
    "for ((;;)) { deploy x; }",
    "for\t((i=$(deploy x);i<3;i++)); do ls; done",
  ])("what runs is seen: %s", (line) => {
    const { isSeen, texts } = readShell(line);
    expect([isSeen, texts]).toEqual([true, expect.arrayContaining(["deploy x"])]);
  });

  test.each([
    "for ((i=0;i<3)); do ls; done",
    "for ((i=0;i<3;i++;)); do ls; done",
    "for ((i=0;i<`a`;i++)); do ls; done",
    "for a ((i=0;i<3;i++)); do ls; done",
  ])("what is none is not read: %s", (line) => {
    expect(readShell(line).isSeen).toBe(false);
  });

  test("it sets a variable", () => {
    expect(readShell("for ((i=0;i<3;i++)); do ls; done").classes).toContain("run");
    expect(readShell("echo $((i+=1))").classes).toContain("run");
  });
});
