// Statements that begin inside of one: servers differ in where a statement ends.
import { describe, expect, test } from "vitest";
import { spellSql } from "../../../../services/core/variants/spell-sql.ts";

describe("a statement begins", () => {
  test.each([
    ["SET NOCOUNT ON\nDELETE FROM users", "DELETE FROM users"],
    ["set xact_abort on update accounts set balance = 0", "update accounts set balance = 0"],
    ["set identity_insert a on insert into a values (1)", "insert into a values (1)"],
    ["set quoted_identifier on drop table users", "drop table users"],
    ["set nocount on exec pay", "exec pay"],
    ["select 1 set nocount on delete users", "delete users"],
    ["set nocount on delete no from users no", "delete no from users no"],
    ["alter database a set read_committed_snapshot on drop table users", "drop table users"],
    ["close master key delete from users", "delete from users"],
    ["alter table a add b int primary key update users set c = 1", "update users set c = 1"],
  ])("in %s", (text, part) => {
    expect(spellSql(text).parts).toContain(part);
  });
});

describe("none begins", () => {
  test.each([
    "create table a (b int references c on delete cascade)",
    "create table a (b int references c on update restrict on delete no action)",
    "create table a (b int references c on delete set null on update set default)",
    "create table a (b timestamp on update current_timestamp)",
    "create table a (b datetime on update now())",
    "create rule a as on delete to b do nothing",
    "insert into a values (1) on duplicate key update b = 1",
    "select 1 from a for no key update",
    "grant delete on a to b",
  ])("in %s", (text) => {
    expect(spellSql(text).parts).toEqual([]);
  });
});
