// Whatever a line looks like, a command that writes cannot hide in it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifySql } from "../../../services/core/variants/classify-sql.ts";
import { classifyShell } from "../../../services/core/variants/shell/classify-shell.ts";
import { VARIANT_CLASSES } from "../../../services/core/variants/variant-class.ts";

const session = { session: true };

const piece = fc.constantFrom(
  ..."ls cat /a grep -r x echo $ $X $1 $( ) ` ' \" \\ ; & && || | |& < > << END 2>&1 > /dev/null ( ) { } [ [[ ]] ! if then fi for in do done while # * ? ~ = A=b cd /r \t".split(
    " ",
  ),
  " ",
  "\n",
  "$" + "{X}",
  "'quoted'",
  '"double $X"',
  "git log",
  "sed -n 1p",
  "find /a -name x",
);
const junk = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(" "));

describe("a shell line", () => {
  it("is a write if a writing command follows on a line of its own", () => {
    fc.assert(
      fc.property(junk, (text) => {
        // A backslash at the end joins the lines: the command is then an argument.
        fc.pre(!text.endsWith("\\"));
        expect(classifyShell(`${text}\nrm x`, session)).toBe("write");
      }),
      { numRuns: 3_000 },
    );
  });

  it("is a write if a writing command stands in a substitution of it", () => {
    fc.assert(
      fc.property(junk, (text) => {
        expect(classifyShell(`echo "$(rm x)"\n${text}`, session)).toBe("write");
        expect(classifyShell(`cat <(rm x) ; ${text}`, session)).toBe("write");
      }),
      { numRuns: 1_000 },
    );
  });

  it("has a class, whatever the text is, and the same one each time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        expect(classifyShell(text, session)).toBe(classifyShell(text, session));
      }),
    );
  });

  it("of 64 KiB is read in no more than its share of time", () => {
    // Quadratic readings of these would take minutes.
    for (const part of [
      "find -exec a \\; ",
      "bash -c 'a' ",
      "$(",
      "'a' ",
      "${a",
      "1",
      "`",
      "<<A\n",
      "a|",
      "(",
      "\\\n",
      "[*",
    ]) {
      const found = classifyShell(part.repeat(Math.floor(65_000 / part.length)), session);
      expect(VARIANT_CLASSES).toContain(found);
    }
  });
});

const word = fc.constantFrom(
  ..."select from t where a = ' '' \" ` $$ $x$ -- /* */ ; ( ) , with as x delete now() count(*) union \\ :=".split(
    " ",
  ),
  "\n",
);

describe("a text of SQL", () => {
  it("of 900 KiB is read in no more than its share of time", () => {
    for (const part of [
      "[",
      "[a]]",
      "/* ",
      "/**/ ",
      "/*a*",
      "#a\n",
      "$a ",
      "$a$",
      "--a\n",
      "a''",
    ]) {
      const found = classifySql(`select 1 ${part.repeat(Math.floor(921_000 / part.length))}`);
      expect(VARIANT_CLASSES).toContain(found);
    }
  });

  it("is a write if a writing statement follows", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        // On its own line, so that no comment holds it; in a string or comment nothing is readable.
        const text = words.join(" ");
        const hidden = classifySql(`${text}\n;drop table t`);
        const inside = /'|"|`|\$|\/\*/.test(text);
        if (!inside) expect(hidden).toBe("write");
        else expect(["read", "watch", "write"]).toContain(hidden);
      }),
      { numRuns: 2_000 },
    );
  });
});
