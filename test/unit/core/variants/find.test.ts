// What `find -exec` runs is seen with the files that it may find.
import { describe, expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

function read(line: string) {
  const parts = partsOfShell(line, { session: false }) ?? [];
  const texts = parts.flatMap((part) => part.texts.slice(1));
  return {
    // The first is the whole.
    texts: texts.filter((text) => !text.includes("{}")),
    isSeen: parts.length > 0 && parts.every(({ hidden }) => !hidden),
  };
}

describe("a file that is found is", () => {
  test.each([
    ["find / -exec rm -rf {} +", ["rm -rf /"]],
    ["find -exec rm {} \\;", ["rm ."]],
    ["find ~ a -maxdepth 1 -name '*' -exec rm -rf {} +", ["rm -rf ~", "rm -rf a"]],
    ["find -L -H -P -O3 -D tree / -ok rm {} \\;", ["rm /"]],
    ["find ! -user a -exec rm {} \\;", ["rm ."]],
    ["find / \\( -user a \\) -exec rm {} \\;", ["rm /"]],
    ["find . -name .env -execdir cat {} \\;", ["cat .env", "cat ./.env"]],
    ["find / -iname .env -exec cat {} \\;", ["cat .env", "cat /.env"]],
    ["find . -path ./a/.env -exec cat {} \\;", ["cat ./a/.env"]],
    ["find . -ipath ./a/.env -exec cat {} \\;", ["cat ./a/.env"]],
    ["find . -iwholename ./a/.env -exec cat {} \\;", ["cat ./a/.env"]],
    ["find . -wholename ./a/.env -exec cat {} \\;", ["cat ./a/.env"]],
    ["find . -wholename ./a -exec cat {} \\;", ["cat ./a"]],
    ["find a b -name a -exec rm {} \\;", ["rm a", "rm a/a", "rm b/a"]],
    ["find /x/a// -name a -exec rm {} \\;", ["rm a", "rm /x/a//", "rm /x/a//a"]],
    ["find . -name a -o -exec rm {} \\;", ["rm a", "rm .", "rm ./a"]],
    ["find . ! -name a -exec rm {} \\;", ["rm a", "rm .", "rm ./a"]],
    ["find . -name a , -exec rm {} \\;", ["rm a", "rm .", "rm ./a"]],
    ["find . \\( -name a -o -name b \\) -exec rm {} \\;", ["rm a", "rm b", "rm ./a", "rm ./b"]],
    ["find . \\( -name a -o -name 'b*' \\) -exec rm {} \\;", ["rm a", "rm .", "rm ./a"]],
    ["find . -exec echo -name a \\; -exec rm {} \\;", ["echo -name a", "rm ."]],
    ['find . -name "$X" -exec rm {} \\;', ["rm ."]],
    ["find . -name 'a[b]' -exec rm {} \\;", ["rm ."]],
    ["find a -exec git -C {} push \\;", ["git push", "git -C a push"]],
    ["find a -exec cp {} {}.b \\;", ["cp a a.b"]],
    ["find a -exec ls \\;", ["ls"]],
  ])("a starting point, or a file of the name: %s", (line, texts) => {
    expect(read(line)).toEqual({ texts, isSeen: true });
  });

  test.each([
    "find . -exec {} \\;",
    "find . -exec ./{} \\;",
    'find . -exec "$X" \\;',
    "find . -exec ls",
    "find . -exec \\;",
    "find . -exec ls $(ls) \\;",
    "find a -exec sh -c 'deploy {}' \\;",
  ])("no command: %s", (line) => {
    expect(read(line).isSeen).toBe(false);
  });
});

describe("a word that is not seen", () => {
  test.each([
    ['find "$X"', "write"],
    ['find -L "$X" "$Y/a" -type f', "write"],
    ["find *.d -name a", "write"],
    [`find ${'"$X" '.repeat(32)}`, "write"],
    ['find "$X" -exec ls {} +', "write"],
    ['find . -newermt "$X" -samefile "$Y" -wholename "$Z" -printf "$F" -xtype "$T"', "read"],
  ])("is a starting point, or the value of a test: %s", (line, found) => {
    const parts = partsOfShell(line, { session: false }) ?? [];
    expect(parts.map((part) => [part.class, part.hidden])).toEqual([[found, false]]);
  });

  test.each([
    "find $(ls) -type f",
    'find "$@" -type f',
    'find . "$X"',
    'find . -type f "$X"',
    'find "$X" -type f "$Y"',
    'find . -newerx "$X"',
    `find ${'"$X" '.repeat(33)}`,
  ])("or may be an action: %s", (line) => {
    expect(read(line).isSeen).toBe(false);
  });
});

test("so many starting points and names are tried, and no more", () => {
  const starts = (count: number) => `find ${"a ".repeat(count)} -exec rm {} \\;`;
  expect([32, 33].map((count) => read(starts(count)).isSeen)).toEqual([true, false]);
  const names = (count: number, more = "") =>
    `find a b ${"-name c ".repeat(count)}${more} -exec rm {} \\;`;
  expect([10, 11].map((count) => read(names(count)).isSeen)).toEqual([true, false]);
  expect(read(names(10, "-path d")).isSeen).toBe(false);
});

test("so many actions are read, and no more", () => {
  const actions = (count: number) => `find a ${"-exec rm {} \\; ".repeat(count)}`;
  expect([64, 65].map((count) => read(actions(count)).isSeen)).toEqual([true, false]);
});

test("so many characters come of what is found, and no more", () => {
  const start = "a".repeat(17_474);
  const found = (command: string) => `find ${start} -exec ${command} ${"{}".repeat(15)} \\;`;
  // The braces themselves count.
  expect(4 + 15 * (2 + 17_474)).toBe(262_144);
  expect(["bbbb", "bbbbb"].map((command) => read(found(command)).isSeen)).toEqual([true, false]);
});
