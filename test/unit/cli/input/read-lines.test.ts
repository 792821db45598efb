import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Line, readLines, splitLines } from "../../../../services/cli/input/read-lines.ts";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-lines-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function file(content: string | Uint8Array): string {
  const path = join(directory, "in.jsonl");
  writeFileSync(path, content);
  return path;
}

async function linesOf(path: string) {
  const lines: (readonly [number, string])[] = [];
  for await (const { number, text } of readLines({ path })) lines.push([number, text]);
  return lines;
}

test.each([
  ["plain", (text: string) => Buffer.from(text)],
  ["gzip", (text: string) => gzipSync(text)],
  ["gzip in two members", (text: string) => Buffer.concat([gzipSync(text), gzipSync("\nlast")])],
])("reads %s, numbers lines from 1 and skips blank ones", async (name, pack) => {
  const path = file(pack('{"ä":1}\n\n  \nsecond'));
  const last = name === "gzip in two members" ? [[5, "last"]] : [];
  expect(await linesOf(path)).toEqual([[1, '{"ä":1}'], [4, "second"], ...last]);
});

test("reads no lines from an empty file", async () => {
  expect(await linesOf(file(""))).toEqual([]);
});

test("reports how many bytes of the file were read", async () => {
  const packed = gzipSync("a\nb\n");
  let bytes = 0;
  const onBytes = (more: number) => {
    bytes += more;
  };
  for await (const _ of readLines({ path: file(packed), onBytes }));
  expect(bytes).toBe(packed.length);
});

test.each([
  ["cut gzip", () => gzipSync("first\nsecond\n").subarray(0, 20), /the gzip data is damaged/],
  ["text that is not UTF-8", () => Buffer.from([0x61, 0x0a, 0xff, 0x0a]), /:2: .*not UTF-8/],
])("reports %s as an error with the file name", async (_, content, message) => {
  const path = file(content());
  await expect(linesOf(path)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(message),
  });
  await expect(linesOf(path)).rejects.toThrow(path);
});

test.each([
  ["a file that is not there", () => join(directory, "nothing"), "there is no such file"],
  ["a directory", () => directory, "it is a directory"],
])("reports %s as an environment error", async (_, path, message) => {
  await expect(linesOf(path())).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringContaining(message),
  });
});

async function* chunks(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
}

test("gives up a line that is too long, and continues with the next", async () => {
  const lines: Line[] = [];
  for await (const line of splitLines(chunks("ab", "cdef", "gh\nij\n", "k"), 4)) lines.push(line);
  const shown = lines.map(({ number, bytes }) => [number, bytes?.toString() ?? null]);
  expect(shown).toEqual([
    [1, null],
    [2, "ij"],
    [3, "k"],
  ]);
});
