// The ready-made variant sets against their tables: what each text is.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { classifyGitLine } from "../../../services/core/variants/classify-git-line.ts";
import { classifyHttp } from "../../../services/core/variants/classify-http.ts";
import { classifySql } from "../../../services/core/variants/classify-sql.ts";
import { classifyShell } from "../../../services/core/variants/shell/classify-shell.ts";
import {
  VARIANT_CLASSES,
  type VariantClass,
} from "../../../services/core/variants/variant-class.ts";

type Table = Readonly<Record<VariantClass, readonly string[]>>;

function tableOf(name: string): readonly (readonly [text: string, expected: VariantClass])[] {
  const url = new URL(`../../fixtures/variants/${name}.json`, import.meta.url);
  const table: Table = JSON.parse(readFileSync(url, "utf8"));
  return VARIANT_CLASSES.flatMap((one) => table[one].map((text) => [text, one] as const));
}

const SETS = {
  "posix-shell": (text: string) => classifyShell(text, { session: true }),
  git: classifyGitLine,
  sql: classifySql,
  http: classifyHttp,
};

describe.each(Object.entries(SETS))("%s", (name, classify) => {
  it.each(tableOf(name))("%j is %s", (text, expected) => {
    expect(classify(text)).toBe(expected);
  });
});

describe("a shell that starts afresh for each line", () => {
  const alone = (text: string) => classifyShell(text, { session: false });

  it.each(["ls", "cat a.py", "git status", "cat $FILE", "cd /r && ls"])("%j is a read", (text) => {
    expect(alone(text)).toBe("read");
  });

  it.each([
    ["echo $?", "watch"],
    ["date", "watch"],
    ["cd src && ls", "run"],
    ["rm a", "write"],
  ])("%j is still %s", (text, expected) => {
    expect(alone(text)).toBe(expected);
  });
});
