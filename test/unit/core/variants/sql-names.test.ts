// Schemas and modifiers around a name: rules know the statement without them, too.
import { describe, expect, test } from "vitest";
import { spellSql } from "../../../../services/core/variants/spell-sql.ts";
import { judge } from "../../../support/core/judge.ts";

const rules = [
  { match: "^delete from users", tier: "never" },
  {
    match:
      "^(update|truncate|truncate table|drop table( if exists)?|insert into|alter table) users",
    tier: "never",
  },
];
const sql = judge({ set: "sql", rules });

describe("a rule on a name fits", () => {
  test.each([
    "DELETE FROM public.users",
    "delete from dbo.users where id = 1",
    "delete from `db`.`users`",
    'delete from "public" . "users"',
    "delete from [a].[dbo].[users]",
    "delete from a.b.c.users",
    "delete from a..users",
    "DELETE FROM ONLY users",
    "delete from only public.users",
    "delete low_priority quick ignore from users",
    "delete top (5) from users",
    "delete top 5 from dbo.users",
    "UPDATE ONLY users set a = 1",
    "update public.users set a = 1",
    "update low_priority ignore a.users set b = 1",
    "truncate public.users",
    "truncate table only public.users",
    "drop table public.users",
    "drop table if exists public.users",
    "insert ignore into a.users values (1)",
    "alter table only public.users drop a",
    "with x as (delete from public.users returning 1) select * from x",
    "select 1; delete from public.users",
    "explain analyze delete from only public.users",
    "delete users where id = 1",
    "delete dbo.users",
    "delete top (@n) from users",
    "delete top (f(1)) dbo.users",
    "delete top (50) percent from users",
    "delete from only (public.users)",
    "insert delayed into users values (1)",
    "insert users values (1)",
    "insert or ignore into public.users values (1)",
    "insert into table users select 1",
    "update or replace users set a = 1",
    "truncate users",
    "drop table if exists only users",
    "alter table if exists public.users drop a",
    "alter online table users drop a",
    "select 1 delete public.users",
    "delete u from users u where u.id = 1",
    "DELETE U FROM dbo.users AS u",
    "delete [u] from [users] [u]",
    "delete from u from users u",
    "delete top (5) u from orders o join users u on o.a = u.a",
    "delete u.* from orders o, users u",
    "delete orders, public.users from orders join users",
    "delete o, u from orders o join users u",
    "delete from orders, users using orders join users",
    "set nocount on delete u from users u",
    "update u set a = 1 from users u",
    "update orders o, users as u set u.a = 1",
    "drop table orders, users",
    "update copy c set a = 1 from users copy",
    "drop table if exists orders,public.users cascade",
    "truncate orders, b.users",
    'delete from u&"\\0075sers"',
  ])("%s", (query) => {
    expect(sql({ query })[0]).toBe("never");
  });

  test.each([
    "select * from public.users",
    "select u.delete from users u",
    "delete from u.orders",
    "delete from public.orders",
    "delete from public.users_old.x",
    "select 'delete from public.users'",
    "update orders set users.a = 1",
    "update orders set a = 1, users = 2",
    "delete o from orders o join users u on o.a = u.a",
    "delete o from orders o, users u",
    "delete from orders where a in (select 1 from b, users)",
    "select a from orders, users",
    "update db.u set a = 1 from users u",
    "insert into a select u from users u",
    "select u&1",
  ])("but not %s", (query) => {
    expect(sql({ query })[0]).toBeNull();
  });
});

describe("a rule fits by the bare name", () => {
  const fits = (match: string, query: string) =>
    judge({ set: "sql", rules: [{ match, tier: "never" }] })({ query })[0] === "never";

  test.each([
    ["^exec(ute)? pay", "EXEC dbo.pay 1"],
    ["^exec pay", "exec @result = [dbo].[pay] 1"],
    ["^call pay", "CALL public.pay(1)"],
    ["^grant .* on users", "GRANT ALL ON public.users TO a"],
    ["^grant .* on users", "grant select, update on table users to a"],
    ["^grant .* on users", "grant all on a, public.users to b"],
    ["^grant .* on users", "GRANT ALL ON OBJECT::dbo.users TO b"],
    ["^delete from users as u", "delete u from a.users as u"],
    ["^create .* on users", "create index a on only public.users (b)"],
    [
      "^create .* on users",
      "create or replace trigger a after update on public.users execute function b()",
    ],
    ["^drop index a", "drop index concurrently if exists public.a"],
    ["^drop schema a", "drop schema if exists a"],
    ["^drop a", "drop if exists public.a"],
    ["^create table users", "create table if not exists public.users (a int)"],
    ["^drop table if exists users", "drop table if exists public.users"],
    ["^drop table public[.]users", "drop table if exists public.users"],
    ["^merge into users", "MERGE dbo.users as a using b on 1 = 1"],
    ["^replace into users", "replace users values (1)"],
    ["^insert into users\\(", "insert into public.users (a) values (1)"],
    ["^insert into users \\(", "insert into public.users(a) values (1)"],
    ["^delete from users where", "delete top (replace(a, b, c)) from users where a = 1"],
    ["^drop table users$", "insert or replace into public.a select 1 drop table b.users"],
  ])("%s: %s", (match, query) => {
    expect(fits(match, query)).toBe(true);
  });

  test.each([
    ["^create or replace into", "create or replace view a as select 1"],
    ["^select 1 from a join b on c", "select 1 from a join b on b.c = a.c"],
    ["^replace into", "replace (a, b)"],
    ["^begin [(]", "begin if exists (select 1) select 2"],
  ])("%s does not: %s", (match, query) => {
    expect(fits(match, query)).toBe(false);
  });
});

test("a permission for a name is none for that of another schema, and what is written keeps its rule", () => {
  const some = judge({
    set: "sql",
    rules: [
      { match: "^delete from public[.]users", tier: "ask" },
      { match: "^delete from users", tier: "free" },
    ],
    classes: { write: { tier: "never" } },
  });
  expect(some({ query: "delete from public.users" })[0]).toBe("ask");
  expect(some({ query: "delete from users" })[0]).toBe("free");
  expect(some({ query: "delete from other.users" })[0]).toBe("never");
});

test("there is one more text where something is left out", () => {
  expect(spellSql("delete from a.b").texts).toEqual(["delete from a.b", "delete from b"]);
  expect(spellSql("delete from b").texts).toEqual(["delete from b"]);
  const inside = "with a as (delete from b) select 1";
  expect(spellSql(inside).texts).toEqual([inside, "with a as(delete from b) select 1"]);
});

test("256 further names are told, and of one more none", () => {
  const listed = (count: number) => spellSql(`drop table a${", a".repeat(count)}`);
  expect([listed(256).hidden, listed(256).parts.length]).toEqual([false, 256]);
  expect([listed(257).hidden, listed(257).parts.length]).toEqual([true, 0]);
  for (const read of ["select 1 from a", "select type a", "explain analyze select a"]) {
    expect(spellSql(`${read}${", a".repeat(300)}`)).toMatchObject({ hidden: false, parts: [] });
  }
  const joined = (count: number) => spellSql(`delete u from a u${" join a u".repeat(count)}`);
  expect([joined(255).hidden, joined(256).hidden]).toEqual([false, true]);
});

test("a long chain of names is looked at once", () => {
  const { texts } = spellSql(`delete from ${"from.".repeat(20_000)}users`);
  expect(texts).toContain("delete from users");
});

test("limits in limits are looked at once", () => {
  const deep = 20_000;
  const { texts } = spellSql(`${"delete top (".repeat(deep)}1${")".repeat(deep)} from users`);
  expect(texts).toContain("delete from users");
});
