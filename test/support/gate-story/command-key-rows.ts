// For each key of `commands`: two values, and a conversation that they decide differently.
import type { KeyRow, KeyStep } from "./key-row.ts";

const AUTHORIZATION = {
  tiers: [
    { name: "ask", pattern: "none", action: "hitl", expires_ms: 60_000 },
    { name: "never", pattern: "none", action: "deny" },
  ],
};

const policy = (commands: object): object => ({
  authorization: AUTHORIZATION,
  tool_schemas: { t: { commands } },
});

const line = (command: string): KeyStep => ({ tool: "t", args: { command } });

/** `unclear` holds calls, so that the effect of a key that allows is visible. */
const row = (
  key: string,
  values: KeyRow["values"],
  base: object,
  ...steps: readonly KeyStep[]
): KeyRow => ({
  key: `tool_schemas.*.commands.${key}`,
  values,
  base: policy({ unclear: "ask", ...base }),
  steps,
});

const sql = (query: string): KeyStep => ({ tool: "t", args: { query } });
const http = (method: string, url: string): KeyStep => ({ tool: "t", args: { method, url } });
const denies = (rule: object): object => ({ rules: [{ tier: "never", ...rule }] });
const deniesSql = (rule: object): object => ({ language: "sql", ...denies(rule) });
const deniesHttp = (rule: object): object => ({ language: "http", ...denies(rule) });

export const COMMAND_KEY_ROWS: readonly KeyRow[] = [
  row("language", ["shell", "sql"], { argument: "command" }, line("ls")),
  row("argument", ["command", "line"], {}, line("ls")),
  row("workspace", ["/repo", "/other"], {}, line("cat /repo/a")),
  row("readable", [["/data"], ["/more"]], {}, line("cat /data/a")),
  row("secrets", [["*.key"], ["*.pem"]], {}, line("cat a.key")),
  row("assignments", [["CI"], ["DEBUG"]], {}, line("CI=1 ls")),
  row("session", [true, false], {}, line("cat a"), line("cd src"), line("cat a")),
  row("functions", [["my_rank"], undefined], { language: "sql" }, sql("select my_rank(a) from b")),
  row("unclear", ["ask", "never"], {}, line("ls $(id)")),
  row("rules", [[{ run: "frob", tier: "never" }], undefined], {}, line("frob a")),
  row(
    "rules.[].when",
    [{ env: { equals: "prod" } }, { env: { equals: "test" } }],
    denies({ run: "ls" }),
    { tool: "t", args: { command: "ls", env: "prod" } },
  ),
  row("rules.[].run", ["frob a", "frob b"], denies({}), line("frob a")),
  row("rules.[].paths", ["outside", "inside"], denies({ run: "rm" }), line("rm a")),
  row("rules.[].writes", ["outside", "inside"], denies({ run: "rm" }), line("rm a")),
  row("rules.[].statement", ["delete", "update"], deniesSql({}), sql("delete from a")),
  row("rules.[].tables", ["a", "b"], deniesSql({ statement: "delete" }), sql("delete from a")),
  row("rules.[].method", ["PUT", "POST"], deniesHttp({}), http("PUT", "https://a.example/b")),
  row(
    "rules.[].host",
    ["a.example", "b.example"],
    deniesHttp({}),
    http("PUT", "https://a.example/b"),
  ),
  row("rules.[].path", ["/b*", "/c*"], deniesHttp({}), http("PUT", "https://a.example/b")),
  row("rules.[].why", ["no", "never"], denies({ run: "frob" }), line("frob a")),
];
