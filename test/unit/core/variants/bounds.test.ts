// What is too long or too deep to be read may be anything, so it counts as a write.
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import { methodsOf } from "../../../../services/core/variants/classify-http.ts";
import { classifySql } from "../../../../services/core/variants/classify-sql.ts";
import {
  classifyShell,
  partsOfShell,
} from "../../../../services/core/variants/shell/classify-shell.ts";

const shell = (text: string) => classifyShell(text, { session: false });

test("a line of so many characters is read, and of one more is not", () => {
  expect([65_536, 65_537].map((length) => shell("ls".padEnd(length)))).toEqual(["read", "write"]);
});

test("fifteen subshells in each other are read, and sixteen are not", () => {
  const nested = (depth: number) => shell(`${"( ".repeat(depth)}ls${")".repeat(depth)}`);
  expect([15, 16].map(nested)).toEqual(["read", "write"]);
});

test("eight commands that run each other are read, and nine are not", () => {
  const nested = (depth: number) => shell(`${"time ".repeat(depth)}ls`);
  expect([8, 9].map(nested)).toEqual(["read", "write"]);
});

test("lines in lines with inputs are read once each: the work does not double with every level", () => {
  let line = "ls";
  for (let level = 0; level < 8; level += 1) {
    line = `sh -c "${line.replaceAll(/[\\"$`]/g, "\\$&")}" < a`;
  }
  const texts = partsOfShell(line, { session: false })?.flatMap((part) => part.texts) ?? [];
  expect([texts.length, texts.includes("ls")]).toEqual([17, true]);
});

test("a line of so many commands is read, and of one more is not, however deep they stand", () => {
  const parts = (count: number, around: (line: string) => string) =>
    partsOfShell(around("a;".repeat(count)), { session: false })?.length;
  expect([8_192, 8_193].map((count) => parts(count, (line) => line))).toEqual([8_192, undefined]);
  const inShell = (line: string) => `sh -c '${line}'`;
  expect([8_191, 8_192].map((count) => parts(count, inShell))).toEqual([1, undefined]);
});

test("nor is one whose commands are known by too long texts", () => {
  const options = (count: number) => `docker${" -x a".repeat(count)} push ${"b".repeat(60_000)}`;
  const isRead = (line: string) => partsOfShell(line, { session: false }) !== null;
  expect([isRead(options(12)), isRead(`${options(1)} < a < b < c < d < e < f < g < h`)]).toEqual([
    true,
    false,
  ]);
});

test("of words that may be options the first ones are tried", () => {
  const gaps = (line: string) =>
    partsOfShell(line, { session: false })?.flatMap((part) => part.gaps.length);
  expect(gaps(`rm ${"$X ".repeat(20_000)}/`)).toEqual([1]);
  expect(gaps(`rm ${"$X -a ".repeat(20)}/`)).toEqual([4]);
  expect(gaps(`rm ${"$X -a ".repeat(10_000)}/`)).toBeUndefined();
});

test.each([
  ["a name in braces without an end", `echo \${${"a".repeat(65_000)}`],
  ["digits in braces without an end", `echo \${${"1".repeat(65_000)}`],
  ["braces without an end in a body", `cat <<E\n${"${".repeat(32_000)}\nE`],
  ["words between them", `cat <<E\n${"text ${a ".repeat(7_000)}\nE`],
  ["a file of many descriptors", `source '${"/fd/".repeat(16_000)}\n'`],
  ["blanks between names in arithmetic", `echo $((a${" ".repeat(65_000)}b))`],
  ["arithmetic without an end", `echo ${"$((a".repeat(16_000)}`],
  ["a place of many slashes", `find ${"/".repeat(65_000)}a -exec rm {} +`],
])("no line takes the square of its length in time: %s", (_, line) => {
  const start = performance.now();
  for (let round = 0; round < 3; round += 1) shell(line);
  expect(performance.now() - start).toBeLessThan(1_500);
});

test("a method is looked for however many objects and lists lie in each other", () => {
  const nested = (depth: number) => {
    let args: JsonObject = { headers: { "X-HTTP-Method-Override": "PUT" } };
    for (let at = 1; at < depth; at += 1) args = at % 2 === 0 ? { in: args } : { in: [args] };
    return methodsOf("GET", args);
  };
  for (const depth of [1, 4, 5, 6, 20_000]) {
    expect(nested(depth)).toEqual({ methods: ["GET", "PUT"], unknown: false });
  }
});

test("texts of a megabyte are looked through for methods in no more than their share of time", () => {
  for (const part of [
    "_method",
    " ",
    "name = ",
    "_method=A&",
    ".method",
    "?  ",
    "name=_method",
    ";+ ",
  ]) {
    const body = part.repeat(Math.floor(1_000_000 / part.length));
    expect(methodsOf("GET", { body, more: [`${body}.method`] }).methods[0]).toBe("GET");
  }
});

test.each([
  { body: "_method=PUT" },
  { url: "/a?_method=PUT" },
  { url: "/a?b=c&%5fmethod=PUT#d" },
  { headers: { "X-HTTP-Method-Override": "PUT" } },
  { headers: { x_http_method: " PUT " } },
  { headers: ["Accept: x", "x-method-override : PUT"] },
  { url: "/a?.method=PUT" },
  { url: "/a?b=c&%2Emethod=PUT" },
  { body: ".method=PUT" },
  { form: { ".method": "PUT" } },
])("another method is asked for by %j", (args) => {
  const { methods, unknown } = methodsOf("GET", args);
  expect([methods.map((one) => one.trim()), unknown]).toEqual([["GET", "PUT"], false]);
});

test.each([
  { headers: [{ name: "X-HTTP-Method-Override", value: "PUT" }] },
  { headers: [["X-Method-Override", "PUT"]] },
  { headers: '{"X-HTTP-Method-Override": "PUT"}' },
  { headers: { "X-HTTP-Method": 1 } },
  { headers: { "X-HTTP-Method": "PUT, GET" } },
  { headers: { "%58-HTTP-Method": "PUT" } },
  { body: '{"_method":"PUT"}' },
  { body: '{"\\u005fmethod":"PUT"}' },
  { body: 'Content-Disposition: form-data; name="_method"\r\n\r\nPUT' },
  { body: "Content-Disposition: form-data; name=_method\r\n\r\nPUT" },
  { body: 'Content-Disposition: form-data; name=".method"\r\n\r\nPUT' },
  { body: "<input type=hidden name=_method value=PUT>" },
  { url: "/a?_method=" },
  { body: "_method=PUT+" },
])("which other method is asked for is not known of %j", (args) => {
  expect(methodsOf("GET", args)).toEqual({ methods: ["GET"], unknown: true });
});

test.each([
  { body: '{"payment_method":"card","method":"x"}' },
  { body: "self._method(a); call the _method of it" },
  { url: "/a?http_method=PUT&x_method=PUT" },
  { body: { shipping_method: "PUT" } },
  { body: "a.method = PUT; b.method(PUT)" },
  { body: "name=payment_method&x=my.method=PUT" },
  { body: { name: "_methods", "a.method": "PUT" } },
])("no other method is asked for by %j", (args) => {
  expect(methodsOf("GET", args)).toEqual({ methods: ["GET"], unknown: false });
});

test("SQL of so many characters is read, and of one more is not", () => {
  const select = (length: number) => classifySql("select 1".padEnd(length));
  expect([1_048_576, 1_048_577].map(select)).toEqual(["read", "write"]);
});

test.each([
  ["uniq a", "read"],
  ["uniq a b", "write"],
  ["uniq a b c", "write"],
  ["stdbuf ls", "read"],
  ["stdbuf -oL ls", "read"],
  ["stdbuf -oL rm a", "write"],
  ["time -p ls", "read"],
  ["time -p rm", "write"],
  ["sed", "write"],
  ["env ls", "read"],
  ["env A=1 ls", "run"],
  ["git diff -- --output=a", "read"],
  ["git diff a -- --output=a", "read"],
  ["git diff --output=a", "write"],
])("%s is a %s", (text, expected) => {
  expect(shell(text)).toBe(expected);
});

test.each([
  ["select 1;", "read"],
  ["select 1;;", "read"],
  ["with t (a) as (select 1) select * from t", "read"],
  ["with recursive t (a) as (select 1) select * from t", "read"],
  ["with t (a) as (select f (1)) select * from t", "write"],
  ["\u0080 select 1", "write"],
])("%s is a %s", (text, expected) => {
  expect(classifySql(text)).toBe(expected);
});
