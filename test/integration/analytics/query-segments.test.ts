import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDuck } from "../../../services/adapters/duckdb/connection.ts";
import { ParquetSegments } from "../../../services/adapters/duckdb/parquet-segments.ts";
import { querySegments } from "../../../services/adapters/duckdb/query-segments.ts";
import { DECISION_COLUMNS } from "../../../services/analytics/decision-row.ts";

let root = "";
let directory = "";
let written = "";

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "callgate-test-"));
  directory = join(root, "decisions");
  const duck = await openDuck();
  const segments = new ParquetSegments(directory, DECISION_COLUMNS, duck);
  segments.open(0);
  const row = { partition: 0, event: 0, seq: 1, kind: "allowed", at_ms: Date.now(), tool: "a;b" };
  await segments.write(0, [{ ...row, offset: 0 }], 0, 1);
  await segments.write(0, [{ ...row, offset: 1, kind: "refused" }], 1, 2);
  duck.close();
  written = everyFile();
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

const ask = (sql: string) => querySegments(directory, DECISION_COLUMNS, sql);

/** Names and bytes of all files, the directory's own and those beside it. */
function everyFile(): string {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name) + (entry.isFile() ? ":" : "/"))
    .sort()
    .map((name) => (name.endsWith(":") ? name + readFileSync(name.slice(0, -1), "base64") : name))
    .join("\n");
}

/** `{old}`: a file of the view; `{new}`: one that would be taken for it; `{root}`: beside the directory. */
function placed(sql: string): string {
  const folder = join(directory, "partition-0");
  const [old = ""] = readdirSync(folder);
  return sql
    .replaceAll("{old}", join(folder, old))
    .replaceAll("{new}", join(folder, "0000000000000000-0000000000009999.parquet"))
    .replaceAll("{root}", root);
}

describe("a query of the analytics", () => {
  it.each([
    "select * from decisions",
    "SELECT kind FROM decisions;",
    "from decisions where tool = 'a;b'",
    "table decisions",
    "values (1)",
    "with d as (select 1) select * from d",
    "describe decisions",
    "summarize decisions",
    "show tables",
    "pivot decisions on kind using count(*) group by tool",
    "unpivot (select seq, event from decisions) on seq, event",
    "pragma table_info('decisions')",
    "explain select * from decisions",
    "explain analyze select * from decisions",
    "explain (select 1) union (select 2)",
    "-- how dear is it\n\texplain/* at all */ANALYZE-- now\nselect 1;",
    "explain /**/ analyze/**/(select 1) union (select 2)",
    "explain describe decisions",
    "explain pivot decisions on kind using count(*) group by tool",
    "explain analyze pivot decisions on kind using count(*)",
    "select * from query('select 1')",
    "-- how many\nselect count(*) from decisions -- all",
    "/* how */ select count(*) from decisions /* many */",
    "select * from '{old}'",
  ])("answers %s", async (sql) => {
    const { columns, rows } = await ask(placed(sql));
    expect([columns.length > 0, rows.length > 0]).toEqual([true, true]);
    expect(everyFile()).toBe(written);
  });

  it.each([
    ["copy (select 1) to '{new}' (format parquet)", "Permission Error"],
    ["copy decisions to '{old}' (format parquet)", "COPY"],
    ["copy (select 1) to '{old}' (format parquet, use_tmp_file false)", "COPY"],
    ["explain analyze copy (select 1) to '{old}' (use_tmp_file false)", "is COPY"],
    ["explain (analyze) copy (select 1) to '{old}' (use_tmp_file false)", "no options"],
    ["/**/ explain /**/ analyze /**/ copy (select 1) to '{old}' (use_tmp_file false)", "is COPY"],
    ["EXPLAIN (format json) SELECT 1", "no options in parentheses: ask with"],
    [
      "explain (analyze 'a)select 1 /*') copy (select 1) to '{old}' (use_tmp_file false) -- */",
      "no options",
    ],
    [
      "explain/**/(analyze 'a)select 1 /*') copy (select 1) to '{old}' (use_tmp_file false) -- */",
      "no options",
    ],
    ["explain /* /* */ */ (analyze 'a)select 1 /*') drop view decisions -- */", "syntax error"],
    ["explain analyze create table t as select 1", "is CREATE"],
    ["explain analyze select 1; copy (select 1) to '{new}'", "the SQL has 2 statements"],
    ["explain analyze pivot (select ';' a) on a; checkpoint", "statements: write one"],
    ["/* /* */ */ explain select 1", "EXPLAIN is not the first word here: ask with SELECT,"],
    ["explain analyze -- nothing", "the SQL is empty"],
    ["explain call duckdb_settings()", "is CALL"],
    ["explain explain select 1", "EXPLAIN is not the first word"],
    ["prepare p as copy (select 1) to '{old}' (use_tmp_file false)", "PREPARE"],
    ["export database '{root}/copy'", "Permission Error"],
    ["attach '{root}/other.db'", "ATTACH"],
    ["attach ':memory:' as other", "ATTACH"],
    ["install json", "LOAD"],
    ["load json", "LOAD"],
    ["set threads = 1", "SET"],
    ["reset allowed_paths", "SET"],
    ["set variable x = 1", "SET"],
    ["pragma enable_profiling", "PRAGMA"],
    ["pragma threads = 1", "SET"],
    ["create table t (a integer)", "CREATE"],
    ["create macro m() as 1", "CREATE"],
    ["create type e as enum ('a')", "CREATE"],
    ["drop view decisions", "DROP"],
    ["insert into decisions select * from decisions", "is not an table"],
    ["checkpoint", "CALL"],
    ["call duckdb_settings()", "CALL"],
    ["vacuum", "VACUUM"],
    ["begin", "TRANSACTION"],
    ["use memory", "SET"],
    ["detach memory", "DETACH"],
    ["select 1; copy (select 1) to '{new}'", "the SQL has 2 statements"],
    ["create table t as select 1; select 1", "the SQL has 2 statements"],
    ["copy (select 1) to '{new}'; select 1", "the SQL has 2 statements"],
    ["", "the SQL is empty"],
    [" ; -- nothing\n/* at\nall */", "the SQL is empty"],
    ["selec", "syntax error"],
    ["select * from read_text('/etc/hostname')", "Permission Error"],
    ["select * from glob('{root}/*')", "Permission Error"],
    ["select * from query('copy (select 1) to ''{new}''')", "SELECT"],
  ])("refuses %s, and changes no file", async (sql, why) => {
    await expect(ask(placed(sql))).rejects.toThrow(why);
    expect(everyFile()).toBe(written);
  });

  it.each([
    "from enable_logging('QueryLog', storage = 'file', storage_path = '{root}/log')",
    "from enable_profiling(format = 'json', save_location = '{root}/profile.json')",
    "explain analyze from enable_profiling(format = 'json', save_location = '{root}/profile.json')",
  ])("writes no file for %s", async (sql) => {
    await ask(placed(sql)).catch(() => undefined);
    expect(everyFile()).toBe(written);
  });

  it("says what to do instead", async () => {
    await expect(ask("drop view decisions")).rejects.toThrow(
      "the statement is DROP, but only reading is allowed: ask with SELECT,",
    );
    await expect(ask("select * from read_text('/etc/hostname')")).rejects.toThrow(
      "; only the files of the view `decisions` can be read, and no file can be written",
    );
  });

  it.each([
    ["count(*)", 2],
    ["sum(seq)", 2],
    ["9007199254740991", 9_007_199_254_740_991],
    ["-9007199254740991::HUGEINT", -9_007_199_254_740_991],
    ["9007199254740992", "9007199254740992"],
    ["-9007199254740993", "-9007199254740993"],
    [
      "170141183460469231731687303715884105727::UHUGEINT",
      "170141183460469231731687303715884105727",
    ],
    ["-0.50", -0.5],
    ["1234567890123.45", 1_234_567_890_123.45],
    ["12345678901234.567", "12345678901234.567"],
    ["0.00000000012345678901234", 1.2345678901234e-10],
    ["0.1 + 0.2::DOUBLE", 0.1 + 0.2],
    ["'nan'::DOUBLE", "NaN"],
    ["'7'", "7"],
    ["interval 14 month + interval 90 minute", "1 year 2 months 01:30:00"],
    ["[interval 1 day, NULL]", ["1 day", null]],
    ["max(decided_at) - min(decided_at)", "00:00:00"],
    ["[1::BIGINT, 9007199254740992]", [1, "9007199254740992"]],
    ["{'seq': 1::BIGINT, 'none': NULL}", { seq: 1, none: null }],
    ["decided_at > 'epoch'", true],
  ])("gives %s as JSON has it", async (expression, value) => {
    const { rows } = await ask(`select distinct ${expression} from decisions`);
    expect(rows).toEqual([[value]]);
  });

  it("has the columns of this version in files of an earlier one, also when they are merged", async () => {
    const earlier = DECISION_COLUMNS.filter(([name]) => !name.startsWith("verdict"));
    const folder = join(root, "earlier");
    const duck = await openDuck();
    const before = new ParquetSegments(folder, earlier, duck);
    before.open(0);
    const row = { partition: 0, event: 0, seq: 1, kind: "allowed", at_ms: 1 };
    await before.write(0, [{ ...row, offset: 0 }], 0, 1);
    const sql = 'select verdict_by from decisions order by seq, "offset"';
    expect((await querySegments(folder, DECISION_COLUMNS, sql)).rows).toEqual([[null]]);

    const after = new ParquetSegments(folder, DECISION_COLUMNS, duck);
    for (let offset = after.open(0); offset < 40; offset += 1) {
      await after.write(0, [{ ...row, offset, verdict_by: "ann" }], offset, offset + 1);
    }
    duck.close();
    const { rows } = await querySegments(folder, DECISION_COLUMNS, sql);
    expect(readdirSync(join(folder, "partition-0")).length).toBeLessThan(32);
    expect(rows.map(([by]) => by)).toEqual([null, ...Array(39).fill("ann")]);
    rmSync(folder, { recursive: true });
  });

  it("reads a directory that is named from where the process is, and one with nothing in it", async () => {
    const empty = join(root, "it's empty");
    mkdirSync(empty);
    const near = `./${"../".repeat(process.cwd().split("/").length - 1)}${directory.slice(1)}`;
    expect((await querySegments(near, DECISION_COLUMNS, "from decisions")).rows).toHaveLength(2);
    expect((await querySegments(empty, DECISION_COLUMNS, "from decisions")).rows).toEqual([]);
    written = everyFile();
  });
});
