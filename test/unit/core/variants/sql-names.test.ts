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
  ])("%s", (query) => {
    expect(sql({ query })[0]).toBe("never");
  });

  test.each([
    "select * from public.users",
    "select u.delete from users u",
    "delete from u.orders",
    "delete from public.orders",
    "delete top (a) from users",
    "delete from public.users_old.x",
    "select 'delete from public.users'",
    "update orders set users.a = 1",
  ])("but not %s", (query) => {
    expect(sql({ query })[0]).toBeNull();
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
});

test("a long chain of names is looked at once", () => {
  const { texts } = spellSql(`delete from ${"from.".repeat(20_000)}users`);
  expect(texts).toContain("delete from users");
});
