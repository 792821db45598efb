import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { identifyLine } from "../../../services/commands/shell/line-identity.ts";
import { parseLine } from "../../../services/commands/shell/plain-line.ts";

const OPTIONS = { assignments: new Set(["CI"]), startDirectory: "." };
const parse = (text: string) => parseLine(text, OPTIONS);

/** Text that a shell replaces at run time. */
const dynamic = fc.constantFrom(
  ...["$x", "$1", "$@", "$*", "$#", "$$", "$!", "$-", "$_", "$((1+1))", "$[1+1]", "$(x)", "`x`"],
  ...["$(< x)", "$(pwd; x)", "$(git status)"],
  ...["x", "x:-y", "!x", "#x", " x; "].map((inside) => `\${${inside}}`),
);
/** The same, which only works outside quotes. */
const unquoted = fc.constantFrom(
  ...["<(x)", ">(x)", "{a,b}", "{1..3}", "a{b,}", "@(a|b)", "!(a)", "$'a'", '$"a"', "~ana", "~+"],
);
const plainWord = fc.constantFrom("a", "-b", "c.ts", "'d e'", '"f g"', "src/h", "*.md", "$HOME/i");

describe("a line with an unknown expansion", () => {
  const line = fc.tuple(
    fc.array(plainWord, { maxLength: 3 }),
    fc.oneof(
      fc.tuple(fc.oneof(dynamic, unquoted)).map(([text]) => text),
      dynamic.map((text) => `"${text}"`),
      dynamic.map((text) => `"a ${text} b"`),
      dynamic.map((text) => `a${text}b`),
      dynamic.map((text) => `CI=${text} ls`),
      dynamic.map((text) => `> ${text}`),
      dynamic.map((text) => `<<< "${text}"`),
      dynamic.map((text) => `<<E\n${text}\nE\n`),
    ),
    fc.array(plainWord, { maxLength: 2 }),
    fc.constantFrom("", "ls && ", "cd a; ", "( b ); ", "! c | ", "cat <<'E'\nx\nE\n"),
  );

  test("is never plain", () => {
    fc.assert(
      fc.property(line, ([before, word, after, prefix]) => {
        const text = `${prefix}ls ${[...before, word, ...after].join(" ")}`;
        expect(parse(text)).toMatchObject({ kind: "unclear" });
      }),
      { numRuns: 2_000 },
    );
  });

  test("is plain where the expansion is quoted", () => {
    fc.assert(
      fc.property(fc.oneof(dynamic, unquoted), (text) => {
        expect(parse(`ls '${text.replaceAll("'", "")}'`)).toMatchObject({ kind: "plain" });
        expect(parse(`cat <<'E'\n${text}\nE`)).toMatchObject({ kind: "plain" });
      }),
    );
  });
});

test("a statement that determines what runs later is never plain", () => {
  const statement = fc.constantFrom(
    ...["if a; then b; fi", "for x in a; do b; done", "while a; do b; done", "until a; do b; done"],
    ...["case a in b) c;; esac", "select x in a; do b; done", "f() { a; }", "function f { a; }"],
    ...["a & b", "a &", "coproc a", "(( a ))", "[[ -f a ]]", "eval a", "alias ls=a", "pushd a"],
    ...["command cd a", "builtin cd a", "unset HOME", "trap a EXIT", "read HOME", "HOME=/", "a ("],
  );
  const around = fc.constantFrom(
    ["", ""],
    ["ls && ", ""],
    ["( ", " )"],
    ["{ ", "; }"],
    ["ls\n", "\nls"],
  );
  fc.assert(
    fc.property(statement, around, (text, [before, after]) => {
      expect(parse(`${before}${text}${after}`)).toMatchObject({ kind: "unclear" });
    }),
  );
});

test("the parser never throws for any text", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      ..."'\"\\`$(){}[]<>|&;#!~*?=\n\t -",
      "$(",
      "${",
      "<<",
      "((",
      "[[",
      "for ",
      "case ",
    ),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }),
      fc.integer({ min: 1, max: 400 }),
      (pieces, times) => {
        const text = pieces.join("").repeat(times).slice(0, 70_000);
        expect(["plain", "unclear"]).toContain(parse(text).kind);
      },
    ),
    { numRuns: 1_000 },
  );
});

describe("the identity of a line", () => {
  const identify = (text: string) => identifyLine(text, parse(text), []);
  const quotes = fc.constantFrom(
    (word: string) => word,
    (word: string) => `'${word}'`,
    (word: string) => `"${word}"`,
    (word: string) => `\\${word}`,
  );
  const gap = fc.constantFrom(" ", "  ", "\t", " \\\n ");
  const end = fc.constantFrom("", ";", " ;", "\n", " # a comment", " ; \n");
  const word = fc.constantFrom("a", "b-c", "d/e", "-f");

  test("ignores quotes, white space, a last semicolon and a comment", () => {
    const words = fc.array(fc.tuple(word, quotes, gap), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(words, gap, end, (parts, before, after) => {
        const plain = `ls ${parts.map(([text]) => text).join(" ")}`;
        const spelled = parts.map(([text, quote, space]) => `${space}${quote(text)}`).join("");
        expect(identify(`${before}l"s"${spelled}${after}`)).toBe(identify(plain));
      }),
    );
  });

  test("differs where different commands run", () => {
    const lines = [
      ...[
        "ls a b",
        "ls 'a b'",
        "ls a; ls b",
        "ls a && ls b",
        "ls a | ls b",
        "(ls a); ls b",
        "! ls a",
      ],
      ...[
        "cd a && ls",
        "cd a; ls",
        "ls >a",
        "ls >>a",
        "ls 2>a",
        "ls >/dev/null",
        "ls 2>&1",
        "ls <a",
      ],
      ...[
        "ls *",
        "ls '*'",
        "ls ~",
        "ls '~'",
        "ls a*'*'",
        "ls a'*'*",
        "ls $?",
        "ls '$?'",
        "CI=1 ls",
      ],
      ...["ls <<< a", "ls <<'E'\nb\nE", "ls $x", "ls $y", "ls $x\\ ", "ls $x\\"],
    ];
    expect(new Set(lines.map(identify)).size).toBe(lines.length);
  });

  test("of an unclear line is its own text without outer white space", () => {
    expect(identify("  ls $x\n")).toBe(identify("ls $x"));
    expect(identify("ls  $x")).not.toBe(identify("ls $x"));
  });

  test("takes the words that a program reads alike from its table", () => {
    const canonical = (text: string) => identifyLine(text, parse(text), [["head", "--lines=5"]]);
    expect(canonical("head -n5")).toBe(canonical("head -n 5"));
  });
});
