// What rules of composite tools see of a call: no other spelling of it switches one off.
import { describe, expect, test } from "vitest";
import { judge, toolFor } from "../../../support/core/judge.ts";

describe("a pattern goes on behind the end of a line", () => {
  const rules = [{ match: "^(git )?commit .*--no-verify", tier: "never" }];

  test.each([
    ["posix_shell", "git commit -m 'Fix\n\nBody' --no-verify"],
    ["git", "commit -m 'Fix\n\nBody' --no-verify"],
  ] as const)("of %s: %j", (set, command) => {
    expect(judge({ set, rules })({ command })).toEqual(["never", false]);
  });

  test("and where there is no set", () => {
    const text = judge({ argument: "text", rules });
    expect(text({ text: "commit a\r\n--no-verify" })).toEqual(["never", false]);
    expect(text({ text: "commit a" })).toEqual([null, false]);
  });
});

describe("a line feed in a text that nobody reads", () => {
  const text = judge({
    argument: "text",
    rules: [
      { match: "^select .*$", read_only: true },
      { match: "^show .*x$", tier: "ask" },
      { match: "^run .*x$", risk_level: "LOW", suggest: ["it"] },
    ],
    otherwise: { tier: "ask" },
  });

  test("brings no rule that is laxer than what follows", () => {
    expect(text({ text: "select 1" })).toEqual([null, true]);
    expect(text({ text: "select 1\n; drop table x" })).toEqual(["ask", false]);
    expect(text({ text: "run a\nx" })).toEqual(["ask", false]);
  });

  test("keeps a rule from none that is stricter, whatever follows", () => {
    const denied = judge({
      argument: "text",
      rules: [
        { match: "^drop .*x$", tier: "ask" },
        { match: "^drop", tier: "free" },
        { match: "^drap .*x$", tier: "ask" },
        { match: "^drap", tier: "never" },
      ],
    });
    expect(denied({ text: "drop\n x" })[0]).toBe("free");
    expect(denied({ text: "drop \n x" })[0]).toBe("ask");
    expect(denied({ text: "drap \n x" })[0]).toBe("never");
    expect(denied({ text: "drap  x" })[0]).toBe("ask");
  });

  test("takes no effect away that a rule declares", () => {
    const effects = [{ resource: "release", kind: "send" }] as const;
    const toolOf = toolFor({ argument: "text", rules: [{ match: "^go .*x$", effects }] });
    const { effects: found } = toolOf({ text: "go \n x" });
    expect(found.map(({ kind }) => kind)).toContain("send");
  });
});

describe("a rule of SQL", () => {
  const sql = judge({
    set: "sql",
    classes: { write: { tier: "ask" } },
    rules: [
      { match: "^INSERT INTO logs\\b", tier: "free" },
      { match: "^(DROP|drop) +(TABLE|table) ", tier: "never" },
      { like: "select * from secrets*", tier: "never" },
      { equals: ["VACUUM FULL"], tier: "never" },
      { match: "^update .*set .*role=", tier: "never" },
    ],
  });
  const tier = (query: string) => sql({ query })[0];

  test.each([
    "DROP TABLE users",
    "Drop Table users",
    "DROP\nTABLE users",
    "DROP/**/TABLE users",
    "drop -- it\n table /* now */ users",
    'DROP TABLE"users"',
    "DROP TABLE`users`",
    "DROP TABLE[users]",
    "SELECT 1; DROP\nTABLE users",
    "SELECT 1;\tdrop/**/table\tusers;",
    "# c\nDROP\tTABLE users",
    "Select  *\nFrom Secrets",
    "SELECT*FROM secrets",
    "SELECT/**/ * FROM secrets WHERE 1=1",
    "vacuum\tfull",
    "UPDATE users\nSET a = 1,\nROLE=2",
  ])("knows a statement in any spelling: %j", (query) => {
    expect(tier(query)).toBe("never");
  });

  test.each([
    "/*!50000 DROP TABLE users */",
    "INSERT INTO logs VALUES ('a",
    "INSERT INTO logs VALUES ('\\'') -- '",
    "INSERT INTO logs VALUES (@a := 1)",
    "DROP\u00a0TABLE users",
  ])("may be about a statement that cannot be read: %j", (query) => {
    expect(sql({ query })).toEqual(["never", false]);
  });

  test("knows it where it is the only rule", () => {
    const one = judge({ set: "sql", rules: [{ equals: ["drop table a"], tier: "never" }] });
    expect(one({ query: "DROP\nTABLE a" })).toEqual(["never", false]);
  });

  test("knows calls as they are written", () => {
    const one = judge({
      set: "sql",
      rules: [{ equals: ["select count(*) from t"], tier: "never" }],
    });
    expect(one({ query: "SELECT count(*)\nFROM t" })).toEqual(["never", true]);
  });

  test.each([
    ["INSERT INTO logs VALUES (1)", "free"],
    ["INSERT INTO logs VALUES ('C:\\\\dir\\\\', '\\d+', 'a''b', '\\\"')", "free"],
    ["INSERT INTO logs VALUES ('DROP\nTABLE users')", "free"],
    ["INSERT INTO logs /* c */ VALUES (1); INSERT INTO logs VALUES (2)", "free"],
    ["insert into logs values (1)", "ask"],
    ["INSERT  INTO logs VALUES (1)", "ask"],
    ["insert into logs values (1); select 1", "ask"],
    ["DROP TABLESPACE a", "ask"],
    ["select '\\d+' from t", null],
    ["select a -- DROP TABLE users", null],
    ["", "ask"],
    ["-- DROP TABLE users", "ask"],
  ])("frees nothing that is written in another way, and holds no more: %j", (query, expected) => {
    expect(tier(query)).toBe(expected);
  });
});

describe("a rule of SQL about a statement", () => {
  const sql = judge({
    set: "sql",
    rules: [
      { match: "^delete from public[.]users", tier: "never" },
      { match: "pg_terminate_backend\\(", tier: "never" },
      { match: "^drop table users", tier: "never" },
      { equals: ["drop database prod"], tier: "never" },
      { match: "^drop", tier: "ask" },
      { match: "^update", tier: "never" },
      { match: "^insert into t \\(", tier: "never" },
      { match: "^insert", tier: "free" },
      { match: "^delete", read_only: true },
    ],
  });
  const tier = (query: string) => sql({ query })[0];

  test.each([
    "delete from public . users",
    "delete from public/**/.users",
    'delete from public."users"',
    'delete from "public" . "users" where a = 1',
    "delete from `public`.`users`",
    "delete from [public].[users]",
    "select pg_terminate_backend (1)",
    "select pg_terminate_backend/**/(1)",
    'select "pg_terminate_backend"(1)',
    'drop table "users"',
    "drop table `users`",
    "drop table [users]",
    'drop database "prod"',
    "insert into t(a) values (1)",
    'insert into "t"(a) values (1)',
  ])("knows it by blanks and quotes that change nothing: %j", (query) => {
    expect(tier(query)).toBe("never");
  });

  test.each([
    "select 1 drop table users",
    "select 1\nGO\nDROP TABLE users",
    "explain analyze delete from public.users",
    "explain plan for update t set a = 1",
    "with x as (delete from public . users returning 1) select * from x",
    "prepare p as drop table users",
    "(drop table users)",
    "begin drop table [users] end",
    "if 1 = 1 drop table users",
    "select 1; select 2 drop table users",
    "insert into t2 values (1) drop table users",
    "alter table a add b int drop table users",
    "select 1. drop table users",
    'select 1 as "on" drop table users',
    "select 1 as [grant] update [order] set a = 1",
    "select 1 as before drop table users",
  ])("knows it inside of another: %j", (query) => {
    expect(tier(query)).toBe("never");
  });

  test("that is as strict as the statement around it adds what it declares", () => {
    const effects = [{ resource: "orders", kind: "delete" }] as const;
    const toolOf = toolFor({ set: "sql", rules: [{ match: "^delete from orders", effects }] });
    for (const query of [
      "delete from orders",
      "with gone as (delete from orders returning id) select * from gone",
      "select 1 delete from orders",
    ]) {
      expect(toolOf({ query }).effects.map(({ kind }) => kind)).toContain("delete");
    }
  });

  test.each([
    "do $$begin execute 'drop ' || 'table users'; end$$",
    "do language plpgsql $$begin end$$",
    "do 'begin end'",
    "do E'begin end'",
    "exec('drop table a')",
    "exec (@statement)",
    "exec @procedure",
    "select 1 exec N'drop table a'",
    "execute immediate 'drop table a'",
    "EXEC sp_executesql N'drop table a'",
    "exec master..[sp_executesql] @a",
    "prepare p from 'drop table a'",
    "prepare p from @a",
  ])("may be about a text that is run: %j", (query) => {
    expect(sql({ query })).toEqual(["never", false]);
  });

  test.each([
    ['select "order" from t', true],
    ["select 'drop table users'", true],
    ["select 'exec (''a'')', \"update\", [drop] from t", true],
    ['select "drop" table1', true],
    ["select update, comment from t", false],
    ["alter table users drop column a", false],
    ["alter table users drop a", false],
    ["create table a (b int references c on delete cascade on update set null)", false],
    ["create trigger a after update on t for each row execute function f()", false],
    ["grant delete, update, drop on t to u", false],
    ["grant drop on t to u", false],
    ["select a.drop, b . drop c from t", false],
    ["create trigger a instead of update as select 1", false],
    ["create trigger a before update or delete on t execute procedure f()", false],
    ["select * from t for update", false],
    ["select * from t for update nowait", false],
    ["merge into t using s on a = b when matched then update set c = 1", false],
    ["exec dbo.p 'drop table users'", false],
    ["exec p 'drop table users'", false],
    ["exec [dbo].[p] @a = 1", false],
    ["exec @code = dbo.p", false],
    ["execute p (1)", false],
    ["call p('drop table users')", false],
    ["do sleep(1)", false],
  ] as const)("is about no other: %j", (query, isRead) => {
    expect(sql({ query })).toEqual([null, isRead]);
  });

  test("is laxer for a part and not for the whole", () => {
    expect(tier("insert into logs values (1) on conflict (a) do update set b = 1")).toBe("free");
    const held = judge({
      set: "sql",
      classes: { write: { tier: "ask" } },
      rules: [{ match: "^insert into logs", tier: "free" }],
    });
    expect(held({ query: "insert into logs values (1)" })[0]).toBe("free");
    expect(held({ query: "select 1 insert into logs values (1)" })[0]).toBe("ask");
    expect(sql({ query: "explain analyze delete from x" })).toEqual([null, false]);
    expect(sql({ query: "delete from x" })).toEqual([null, true]);
  });

  test("is looked up in so many characters of parts, and may be about more", () => {
    const parts = (count: number) => `select 1 ${"kill 1 ".repeat(count)}`;
    expect(tier(parts(500))).toBe(null);
    expect(tier(parts(600))).toBe("never");
  });

  test("is looked up in no more than its share of time", () => {
    for (const part of [",", "1", '"a".', "( ", "a ,", "drop table a ", "a /**/ ", "exec "]) {
      expect(sql({ query: `x ${part.repeat(200_000 / part.length)}` })[1]).toBe(false);
    }
  });
});

describe("a rule of HTTP may be about a method that the arguments ask for", () => {
  const http = judge({ set: "http", rules: [{ equals: ["DELETE"], tier: "never" }] });

  test.each([
    { headers: '{"X-HTTP-Method-Override": "DELETE"}' },
    { headers: [["X-HTTP-Method-Override", "DELETE"]] },
    { body: '{"_method":"DELETE"}' },
    { url: "https://a.example/b?%5fmethod=DELETE" },
    { headers: { "X-HTTP-Method": 1 } },
  ])("%j", (args) => {
    expect(http({ method: "POST", ...args })).toEqual(["never", false]);
    expect(http({ method: "GET", ...args })).toEqual(["never", false]);
  });

  test("which is no read, also where there is no rule", () => {
    const headers = '{"X-HTTP-Method-Override": "DELETE"}';
    expect(judge({ set: "http" })({ method: "GET", headers })).toEqual([null, false]);
    expect(http({ method: "GET", body: '{"payment_method": "DELETE"}' })).toEqual([null, true]);
  });
});

describe("a rule of HTTP knows a method in any letters", () => {
  const http = judge({
    set: "http",
    classes: { write: { tier: "ask" } },
    rules: [
      { equals: ["delete"], tier: "never" },
      { like: "put|patch", tier: "never" },
      { match: "^post$", tier: "free" },
      { equals: ["PURGE"], tier: "free" },
    ],
  });

  test.each(["DELETE", "Delete", " delete", "PUT", "Patch"])("%j", (method) => {
    expect(http({ method })[0]).toBe("never");
    expect(http({ method: "POST", headers: { "X-HTTP-Method": method } })[0]).toBe("never");
  });

  test("which makes it stricter and never laxer", () => {
    expect(["POST", "post", "PURGE", "Purge"].map((method) => http({ method })[0])).toEqual([
      "ask",
      "ask",
      "free",
      "ask",
    ]);
  });
});

test("a rule of a shell knows what a command reads from", () => {
  const shell = judge({ set: "posix_shell", rules: [{ match: "^cat .*\\.env$", tier: "never" }] });
  expect(shell({ command: "cat < .env" })).toEqual(["never", true]);
  expect(shell({ command: "cat < a.txt" })).toEqual([null, true]);
});
