// The core and what it stands on keep nothing between calls, and ask neither the clock nor chance.
import { describe, expect, it } from "vitest";
import { findModuleState } from "../support/purity/find-module-state.ts";
import { listTextFiles, readText } from "../support/source-tree.ts";

const PURE = /^services\/(core|commands|collections|runtime)\/.*\.ts$/;

const files = listTextFiles().filter((path) => PURE.test(path) && !path.endsWith(".d.ts"));

it("no module of the core, of commands, of collections or of the runtime keeps state", () => {
  expect(files.length).toBeGreaterThan(150);
  const problems = files.flatMap((path) =>
    findModuleState(readText(path)).map((what) => `${path}:${what}`),
  );
  expect(problems).toEqual([]);
});

describe("a module keeps state where", () => {
  it.each([
    ["a name can be assigned to", "let last = 0;"],
    ["an exported name can be assigned to", "export let last: string | undefined;"],
    ["an array can be written", "const seen = [];"],
    ["an array has a type that can be written", "const seen: string[] = [];"],
    ["an array is filled", "const seen = new Array(8).fill(0);"],
    ["an array comes of another", "const seen = [1].map((one) => one);"],
    ["a map can be written", "const cache = new Map<string, number>();"],
    ["a map has a type that can be written", "const cache: Map<string, number> = new Map();"],
    ["a set can be written", "const seen = new Set(['a']);"],
    ["a weak map can be written", "const cache: ReadonlyMap<object, 1> = new WeakMap();"],
    ["a typed array can be written", "const scratch = new Uint8Array(16);"],
    [
      "a typed array hides behind a type",
      "const t: readonly number[] = Uint8Array.from([1]) as never;",
    ],
    ["a buffer can be written", "const scratch = Buffer.alloc(16);"],
    ["an object of a class lives on", "const recent = new RecentTexts();"],
    ["an expression is sticky", "const TOKEN = /a/y;"],
    [
      "an expression keeps its offset",
      "const T = /a/g;\nfunction f(s: string) { return T.exec(s); }",
    ],
    ["a static can be assigned", "class A { static last = 0; }"],
    [
      "a member of a constant is written",
      "const WALK = { at: 0 };\nfunction f() { WALK.at += 1; }",
    ],
    [
      "an element of a constant is written",
      "const t = { a: [0] };\nconst f = () => { t.a[0] = 1; };",
    ],
    [
      "a member of a constant is counted up",
      "const WALK = { at: 0 };\nfunction f() { WALK.at++; }",
    ],
    ["a constant is pushed to", "const t = { a: list() };\nfunction f() { t.a.push(1); }"],
  ])("%s", (_what, text) => {
    expect(findModuleState(text)).toHaveLength(1);
  });
});

describe("a module keeps no state where", () => {
  it.each([
    ["a list is readonly", "const ALL: readonly string[] = ['a'];"],
    ["a list is constant", "export const ALL = ['a', 'b'] as const;"],
    ["a list is frozen", "const ALL = Object.freeze(['a']);"],
    ["a map is readonly", "const BY_NAME: ReadonlyMap<string, number> = new Map([['a', 1]]);"],
    ["a set is readonly", "const NAMES: ReadonlySet<string> = new Set(['a']);"],
    ["texts are joined", "const ALL = ['a', 'b'].join('|');"],
    ["an expression is plain", "const T = /a/u;\nconst f = (s: string) => T.test(s);"],
    [
      "an expression replaces all",
      "const T = /a/g;\nconst f = (s: string) => s.replaceAll(T, '');",
    ],
    ["a decoder is made", "const decoder = new TextDecoder();"],
    [
      "what is written is local",
      "const a: readonly 1[] = [];\nfunction f(a: { n: number }) { a.n = 1; }",
    ],
    [
      "a function has lists of its own",
      "function f() { const seen = []; let n = 0; return [seen, n]; }",
    ],
    ["a global is declared", "declare let there: string;"],
  ])("%s", (_what, text) => {
    expect(findModuleState(text)).toEqual([]);
  });
});
