import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { matchesTable, readSql } from "../../../../services/commands/sql/read-sql.ts";

const NONE: ReadonlySet<string> = new Set();

function doesOf(text: string, functions = NONE): string {
  const reading = readSql(text, functions);
  if (reading.kind === "unclear") return "write";
  const all = reading.statements.map(({ does }) => does);
  return all.find((does) => does === "write") ?? all.find((does) => does === "watch") ?? "read";
}

/** For `update users; insert audit`, the statements with the tables of each. */
function statementsOf(text: string): readonly string[] {
  const reading = readSql(text, NONE);
  if (reading.kind === "unclear") return ["unclear"];
  return reading.statements.map(({ statement, tables }) => [statement, ...tables].join(" "));
}

function identityOf(text: string): string {
  const reading = readSql(text, NONE);
  if (reading.kind === "unclear") throw new Error(reading.reason);
  return reading.identity;
}

const fixture = new URL("../../../fixtures/commands/sql.json", import.meta.url);
const classes = JSON.parse(readFileSync(fixture, "utf8")) as Readonly<Record<string, string[]>>;

describe("an SQL statement", () => {
  for (const [does, texts] of Object.entries(classes)) {
    it.each(texts)(`is a ${does}: %j`, (text) => {
      expect(doesOf(text)).toBe(does);
    });
  }

  it("may call a function that the policy names, with its schema if it has one", () => {
    const functions = new Set(["my_rank", "geo.distance"]);
    expect(doesOf("select my_rank(a), geo.distance(a, b) from t", functions)).toBe("read");
    expect(doesOf("select other.my_rank(a) from t", functions)).toBe("write");
    expect(doesOf("select distance(a, b) from t", functions)).toBe("write");
  });

  it.each([
    "select 1 /*! into outfile 'x' */",
    "select 'a\\' ; drop table t; --'",
    "frobnicate t",
    "-- nothing",
    "select U&'\\0061'",
    "select q'[a]' from dual",
  ])("is unclear, with a reason: %j", (text) => {
    expect(readSql(text, NONE)).toEqual({ kind: "unclear", reason: expect.stringMatching(/\w/) });
  });
});

describe("the statements of SQL and their tables", () => {
  it.each<readonly [string, readonly string[]]>([
    ["select * from users u, public.orders where a in (1, 2)", ["select users public.orders"]],
    ["select * from a join (b join c on x = y) on true, d", ["select a b c d"]],
    ['select * from "Users" natural join `x`', ["select users x"]],
    ["select 1; delete from users", ["select", "delete users"]],
    ["delete users where true", ["delete users"]],
    ["delete from user where true", ["delete user"]],
    ["delete a from users a using b", ["delete a users b"]],
    ["update only users set a = 1 from b", ["update users b"]],
    ["update top (10) users set a = 1", ["update top users"]],
    ["update or replace users set a = 1", ["update users", "replace users"]],
    ["insert ignore into audit (a, b) select a, b from users", ["insert audit users"]],
    ["truncate users, orders", ["truncate users orders"]],
    ["drop table if exists a, b cascade", ["drop a b"]],
    ["drop view v", ["drop v"]],
    ["create unique index i on users (a)", ["create i users"]],
    ["create or replace view v as select * from users", ["create v users"]],
    ["create table a (b int references users on delete cascade)", ["create a users"]],
    ["alter table users rename to b", ["alter users b", "rename users b"]],
    ["grant select on users to bob", ["grant users"]],
    ["copy users to '/tmp/x'", ["copy users"]],
    ["explain analyze delete from users", ["explain users", "delete users"]],
    ["select 1 delete from users", ["select users", "delete users"]],
    ["merge into t using s on a = b when matched then delete", ["merge t s", "delete t s"]],
    ["insert into a values (1) on conflict do update set b = 2", ["insert a", "update a"]],
    [
      "with x as (delete from users returning *) select * from x",
      ["select users x", "delete users x"],
    ],
    ["select replace(a, 'x', 'y') from t for update", ["select t"]],
  ])("%s", (text, statements) => {
    expect(statementsOf(text)).toEqual(statements);
  });

  it("matches a rule's table in every schema where the rule names none", () => {
    expect(matchesTable("public.users", "Users")).toBe(true);
    expect(matchesTable("users", "users")).toBe(true);
    expect(matchesTable("public.superusers", "users")).toBe(false);
    expect(matchesTable("users", "public.users")).toBe(false);
  });
});

describe("the identity of SQL", () => {
  it.each([
    ["select a,b from t where c=1", "SELECT a, b\nFROM t -- all\nWHERE c = 1 ;"],
    ["insert into t(a)values('x')", "insert /* one */ into t (a) values ('x')"],
  ])("%s is %s", (one, other) => {
    expect(identityOf(one)).toBe(identityOf(other));
  });

  it.each([
    ["select 'a b'", "select 'a  b'"],
    ["select 'A'", "select 'a'"],
    ['select "A"', 'select "a"'],
    ["select * from Users", "select * from users"],
    ["select 1 2", "select 12"],
    ["select a - -1", "select a + 1"],
    ["select 1; select 2", "select 2; select 1"],
  ])("%s is not %s", (one, other) => {
    expect(identityOf(one)).not.toBe(identityOf(other));
  });
});
