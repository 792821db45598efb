// Quotes of bash, groups behind `time` and arrays: what is read of them, and what stays unreadable.
import { describe, expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";
import { ansiQuotedAt } from "../../../../services/core/variants/shell/quotes.ts";

const partsOf = (line: string) => partsOfShell(line, { session: true });
const textsOf = (line: string) => partsOf(line)?.flatMap((part) => part.texts) ?? null;

describe("$'…'", () => {
  test.each([
    ["a b", "a b"],
    ["", ""],
    ["\\a\\b\\e\\E\\f\\n\\r\\t\\v", "\x07\b\x1b\x1b\f\n\r\t\v"],
    ['\\\\\\"\\?', '\\"?'],
    ["\\x41\\x4a\\xa", "AJ\n"],
    ["\\x411", "A1"],
    ["\\101\\1012\\7", "AA2\x07"],
    ["\\u41\\u00e9\\u00411", "A\u00e9A1"],
    ["\\U1F600\\U0000004a1", "\u{1f600}J1"],
    ["\\U10FFFF", "\u{10ffff}"],
    ["\\d\\.\\8\\\n", "\\d\\.\\8\\\n"],
    ["\\x7f\\177", "\x7f\x7f"],
  ])("with %j in it is %j", (inside, text) => {
    const line = `echo $'${inside}' b`;
    expect(ansiQuotedAt(line, 5)).toEqual({ text, end: line.length - 2 });
  });

  test.each([
    ["a quote, where other shells end", "a\\'b"],
    ["NUL", "\\0"],
    ["NUL in hexadecimal", "a\\x00"],
    ["NUL in Unicode", "\\u0"],
    ["a byte", "\\x80"],
    ["a byte in octal", "\\200"],
    ["a control letter", "\\cA"],
    ["hexadecimal without digits", "\\xg"],
    ["Unicode without digits", "\\u"],
    ["long Unicode without digits", "\\U"],
    ["no character", "\\U110000"],
    ["half of a character", "\\ud800"],
    ["the other half", "\\udfff"],
  ])("with %s in it is not read", (_, inside) => {
    expect(textsOf(`echo $'${inside}'`)).toBeNull();
  });

  test.each(["echo $'a", "echo $'a\\", "echo $'a\\'", "cat <<$'EOF'\nx\nEOF", 'echo $"a"'])(
    "unlike it is not read: %j",
    (line) => {
      expect(textsOf(line)).toBeNull();
    },
  );

  test.each([
    ["git $'\\x70ush'", "git push"],
    ["$'\\147it' pu$'\\u0073'h", "git push"],
    ["echo $'if'", "echo if"],
    ["grep $'a{b,c}*' d", "grep a{b,c}* d"],
    ["echo \"$'a'\"", "echo $'a'"],
  ])("is known by what it is: %s", (line, text) => {
    expect(textsOf(line)).toContain(text);
  });

  test("is a value", () => {
    expect(textsOf("IFS=$'\\n' read -r a")).toEqual(["read -r a"]);
    expect(textsOf("for x in $'-r'; do rm $x a; done")).toContain("rm a");
  });

  test("opens nothing, and is no expansion", () => {
    expect(partsOf("sort $'-r' /a")?.[0]?.class).toBe("read");
    expect(partsOf("sort $'-o' /a")?.[0]?.class).toBe("write");
  });
});

describe("a group behind time", () => {
  test.each([
    ["time (npm test)", ["npm test"]],
    ["time -p (rm a; ls)", ["rm a", "ls"]],
    ["time { rm a; }", ["rm a"]],
    ["if time (rm a); then ls; fi", ["rm a", "ls"]],
  ])("is read as one: %s", (line, texts) => {
    expect(textsOf(line)).toEqual(texts);
  });

  test.each([
    "time() { ls; }",
    "time () { ls; }",
    "time ( ) { ls; }",
    "time ls (rm a)",
    "A=1 (ls)",
    "time A=1 (ls)",
    "ls (rm a)",
    "f() { ls; }",
  ])("is not that: %s", (line) => {
    expect(textsOf(line)).toBeNull();
  });
});

describe("all of an array", () => {
  test.each(['echo "$' + '{a[@]}"', 'echo "$' + '{#a[@]}"', 'echo "$' + '{!a[@]}"'])(
    "is a word that is not seen: %s",
    (line) => {
      expect(textsOf(line)).toContain("echo ");
    },
  );

  test.each(['"$@"', '"$' + '{@}"', '"$' + '{a[@]}"', '"$' + '{@:2}"'])(
    "may be options, in quotes too: rm %s a",
    (word) => {
      expect(partsOf(`rm ${word} a`)?.[0]?.gaps).toEqual([{ before: "rm", after: "a" }]);
    },
  );

  test.each(['"$X"', '"$' + '{#a[@]}"', '"$' + '{a[*]}"', '"$*"', '"$#"'])(
    "is not %s, which is one word",
    (word) => {
      expect(partsOf(`rm ${word} a`)?.[0]?.gaps).toEqual([]);
    },
  );

  test.each([
    "a=(b c)",
    "a+=(b)",
    "echo $" + "{a[$(rm a)]}",
    "echo $" + "{a@P}",
    "echo $" + "{a[@]@P}",
    "echo $" + "{a[@]:=b}",
    "echo $" + "{a:=b}",
    "$" + "{a[@]}",
  ])("is not read in %s", (line) => {
    expect(textsOf(line)).toBeNull();
  });
});
