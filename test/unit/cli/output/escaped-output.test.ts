// Everything that a command writes passes through one function, which escapes invisible characters.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapedText } from "../../../../services/cli/output/escaped-output.ts";
import { createStyle } from "../../../../services/cli/output/style.ts";
import type { Output } from "../../../../services/cli/output/terminal.ts";
import { runInProcess } from "../../../support/memory-terminal.ts";

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

function outputOf(coloured: boolean, isTerminal: boolean): Output {
  const done = async (): Promise<void> => undefined;
  return { write: done, flush: done, isTerminal, columns: 100, style: createStyle(coloured) };
}

describe("the output of a command", () => {
  test("is equivalent JSON without invisible characters", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.boolean(), (value, coloured) => {
        const text = `${JSON.stringify(value)}\n`;
        const shown = escapedText(text, outputOf(coloured, coloured));
        expect(JSON.parse(shown)).toEqual(JSON.parse(text));
        expect(HIDDEN.test(shown.slice(0, -1))).toBe(false);
      }),
    );
  });

  test("contains colours only if coloured, and no other terminal escapes", () => {
    const { bold } = createStyle(true);
    const text = `${bold("a")} \u001b[2J\u001b[8m\u009b2J\u202e\r\u001b[K`;
    const left = "\\u001b[2J\\u001b[8m\\u009b2J\\u202e";
    expect(escapedText(text, outputOf(true, true))).toBe(`${bold("a")} ${left}\r\u001b[K`);
    expect(escapedText(text, outputOf(true, false))).toBe(`${bold("a")} ${left}\\u000d\\u001b[K`);
    expect(escapedText(text, outputOf(false, false))).not.toContain("\u001b");
  });

  test("keeps the line ends of CSV, and no other carriage returns", () => {
    const text = 'a,b\r\n1,"x\ry"\r\n';
    expect(escapedText(text, outputOf(false, false))).toBe('a,b\r\n1,"x\\u000dy"\r\n');
  });

  test("is escaped for every command, including errors", async () => {
    const { stderr, stdout } = await runInProcess([
      "policy",
      "lint",
      "--policy",
      "no\u202esuch\u009bfile.yaml",
    ]);
    const said = stderr + stdout;
    expect(said).toContain("no\\u202esuch\\u009bfile.yaml");
    expect(HIDDEN.test(said.replaceAll("\n", ""))).toBe(false);
  });

  test("has no backtick in JSON, where it would end a quotation, and stays equivalent", async () => {
    const policy = "infra/policies/templates/coding-agent.yaml";
    const call = { tool: "bash", arguments: { command: "frob '`id`'" } };
    const words = ["policy", "explain", "-p", policy, "--call", JSON.stringify(call), "--json"];
    const { stdout } = await runInProcess(words);
    expect(stdout).not.toContain("`");
    expect(JSON.stringify(JSON.parse(stdout))).toContain("`id`");
    const { stderr } = await runInProcess(["policy", "lint", "--policy", "no`such.yaml", "--json"]);
    expect(stderr).not.toContain("`");
    expect(JSON.parse(stderr)).toMatchObject({ error: { exitCode: 3 } });
  });
});
