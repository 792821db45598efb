import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSql } from "../../../services/commands/sql/read-sql.ts";

const NONE: ReadonlySet<string> = new Set();

const name = fc.constantFrom("t", "users", "public.orders", '"Mixed"', "`odd`", "[dbo].[t]");
const text = fc.constantFrom("'a'", "'it''s'", "'; drop table t; --'", "'/* delete'");
const value = fc.oneof(text, fc.nat().map(String), name);

const reading = fc.oneof(
  fc.tuple(value, name, value).map(([a, t, b]) => `select ${a} from ${t} where x = ${b}`),
  name.map((t) => `with q as (select count(*) from ${t}) select * from q`),
  name.map((t) => `explain select * from ${t}`),
  fc.constantFrom("show tables", "describe t", "values (1)", "select lower('x')"),
);

const writing = fc.oneof(
  name.map((t) => `delete from ${t}`),
  fc.tuple(name, value).map(([t, v]) => `update ${t} set x = ${v}`),
  fc.tuple(name, value).map(([t, v]) => `insert into ${t} values (${v})`),
  name.map((t) => `with q as (delete from ${t} returning *) select * from q`),
  name.map((t) => `select * into copy_of from ${t}`),
  name.map((t) => `select * from ${t} for update`),
  name.map((t) => `explain analyze delete from ${t}`),
  // A function that is not declared; no name of the built-in list ends like this.
  fc.stringMatching(/^[a-z]{1,8}_of_ours$/).map((f) => `select ${f}(1)`),
  fc.constantFrom("drop table t", "create table u (a int)", "call p()", "vacuum", "set a = 1"),
);

/** Complete in themselves: the text after them is not inside them. */
const blank = fc.constantFrom(
  " ",
  "\n",
  "\t ",
  " /* ; drop table t */ ",
  " -- it's\n",
  " /* ' */ ",
);

const spaced = (part: fc.Arbitrary<string>) =>
  fc.tuple(part, fc.infiniteStream(blank)).map(([one, blanks]) => respace(one, blanks));

/** Other white space where there was some, outside quotes. */
function respace(one: string, blanks: Iterable<string>): string {
  const next = blanks[Symbol.iterator]();
  return one.replace(/'(?:[^']|'')*'|\$\$.*?\$\$|"[^"]*"| /g, (piece) =>
    piece === " " ? String(next.next().value) : piece,
  );
}

const KEYWORD =
  /\b(?:select|from|where|with|as|delete|update|insert|into|values|set|for|explain)\b/g;

/** Puts keywords outside quotes in capitals. */
function inCapitals(one: string): string {
  return one.replace(/'(?:[^']|'')*'|[^']+/g, (piece) =>
    piece.startsWith("'") ? piece : piece.replace(KEYWORD, (word) => word.toUpperCase()),
  );
}

describe("an SQL text", () => {
  it("is no read if one of its statements writes, at any position and with any spacing", () => {
    fc.assert(
      fc.property(
        fc.array(spaced(reading)),
        spaced(writing),
        fc.array(spaced(reading)),
        (before, one, after) => {
          const read = readSql([...before, one, ...after].join(";"), NONE);
          if (read.kind === "unclear") return;
          expect(read.statements.map(({ does }) => does)).toContain("write");
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("is a read if each of its statements is one", () => {
    fc.assert(
      fc.property(fc.array(spaced(reading), { minLength: 1 }), (parts) => {
        const read = readSql(parts.join(";"), NONE);
        expect(read.kind).toBe("statements");
        if (read.kind === "statements")
          for (const { does } of read.statements) expect(does).toBe("read");
      }),
      { numRuns: 1_000 },
    );
  });

  it("names the table of a statement that changes it", () => {
    const change = fc.constantFrom(
      (t: string) => `delete from ${t} where a = 1`,
      (t: string) => `update ${t} set a = 1`,
      (t: string) => `insert into ${t} (a) values (1)`,
      (t: string) => `drop table if exists x, ${t}`,
      (t: string) => `select 1; truncate ${t}`,
      (t: string) => `with q as (delete from ${t}) select 1`,
    );
    fc.assert(
      fc.property(change, fc.stringMatching(/^[a-z]\w{0,8}_t$/), (make, table) => {
        for (const written of [table, table.toUpperCase(), `"${table}"`, `\`${table}\``]) {
          const read = readSql(make(written), NONE);
          const tables = read.kind === "statements" ? read.statements.flatMap((s) => s.tables) : [];
          expect(tables).toContain(table.toLowerCase());
        }
      }),
    );
  });

  it("keeps its identity with other white space, comments and case of keywords, and a last semicolon", () => {
    fc.assert(
      fc.property(fc.oneof(reading, writing), fc.infiniteStream(blank), (one, blanks) => {
        const other = `${respace(inCapitals(one), blanks)} ;`;
        const [first, second] = [readSql(one, NONE), readSql(other, NONE)];
        if (first.kind === "unclear" || second.kind === "unclear") return;
        expect(second.identity).toBe(first.identity);
      }),
      { numRuns: 2_000 },
    );
  });

  it("differs from another with a different string or quoted name", () => {
    const quoted = fc.stringMatching(/^[ -&(-[\]-~]{1,6}$/);
    fc.assert(
      fc.property(quoted, quoted, (a, b) => {
        const [one, other] = [`select '${a}'`, `select '${b}'`].map((sql) => readSql(sql, NONE));
        if (one?.kind !== "statements" || other?.kind !== "statements") return;
        expect(one.identity === other.identity).toBe(a === b);
      }),
    );
  });

  it("never throws", () => {
    const piece = fc.constantFrom(
      ..."' '' \" ` [ ] $$ $x$ $ -- # /* */ /*! ; ( ) , . \\ := : select from delete update with as a 1 \n".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(piece).map((all) => all.join("")),
        ),
        (sql) => {
          expect(["statements", "unclear"]).toContain(readSql(sql, NONE).kind);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it.each([
    "'",
    "''",
    "/*",
    "/**/",
    "[",
    "[a]]",
    "$a",
    "$a$ ",
    "(",
    "a.",
    "1+",
    "f(",
    "from a,",
    "update ",
    "--a\n",
    "\\",
  ])("of 64 KB made of %j is read to its end", (part) => {
    const sql = `select ${part.repeat(Math.ceil(65_536 / part.length))}`;
    expect(["statements", "unclear"]).toContain(readSql(sql, NONE).kind);
  });
});
