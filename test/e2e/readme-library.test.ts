// The library example of the README as written, with the policy of the README.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuilt } from "../../tasks/ensure-built.js";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const MARKER = "<!-- example: library -->";

let directory = "";

/** The first code block in this language after a text. */
function blockAfter(text: string, start: string, language: string): string {
  const from = text.indexOf(start);
  expect(from, `README.md must have \`${start}\``).toBeGreaterThanOrEqual(0);
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(text.slice(from));
  expect(block, `README.md must have a ${language} block after \`${start}\``).not.toBeNull();
  return block?.[1] ?? "";
}

beforeAll(async () => {
  await ensureBuilt();
  directory = mkdtempSync(join(tmpdir(), "callgate-readme-"));
  mkdirSync(join(directory, "node_modules"));
  symlinkSync(REPOSITORY, join(directory, "node_modules/callgate"));
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const policy = blockAfter(readme, "## A first policy", "yaml");
  const example = blockAfter(readme, MARKER, "ts");
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  writeFileSync(join(directory, "policy.yaml"), policy);
  const cases = blockAfter(readme, "in `policy.test.yaml` beside it", "yaml");
  writeFileSync(join(directory, "policy.test.yaml"), cases);
  writeFileSync(join(directory, "example.ts"), example);
  writeFileSync(
    join(directory, "tsconfig.json"),
    JSON.stringify({
      extends: join(REPOSITORY, "tsconfig.json"),
      compilerOptions: {
        noEmit: true,
        rootDir: "/",
        typeRoots: [join(REPOSITORY, "node_modules/@types")],
      },
      include: [join(directory, "*.ts")],
    }),
  );
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function runNode(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: directory,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("the README example runs: the first charge runs, the second is refused in words", () => {
  const tsx = join(REPOSITORY, "node_modules/tsx/dist/cli.mjs");
  const run = runNode(tsx, "--tsconfig", "tsconfig.json", "example.ts");
  expect(run.stderr).toBe("");
  expect(run.stdout).toContain("order 7: 100.00 paid");
  expect(run.stdout).toMatch(/^duplicate_call You already made this exact call/m);
  expect(run.status).toBe(0);
  expect(existsSync(join(directory, ".callgate", "log.mdb"))).toBe(true);
});

test("the README's policy passes lint and its test, and holds a large refund", () => {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const lines = blockAfter(readme, "<!-- example: policy -->", "sh").trimEnd().split("\n");
  const command = join(REPOSITORY, "bin/callgate.js");
  const outputs = lines.map((line) => {
    const script = line.replace("npx callgate", `"${process.execPath}" "${command}"`);
    const { status, stdout, stderr } = spawnSync("sh", ["-c", script], {
      cwd: directory,
      encoding: "utf8",
    });
    expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: "" });
    return stdout;
  });
  expect(outputs).toHaveLength(3);
  expect(outputs[0]).toContain("0 errors, 0 warnings");
  expect(outputs[1]).toContain("refund_order, a write: held (approval_required)");
  expect(outputs[2]).toContain("2 cases, 0 failed");
});

test("the README example infers its types from the handlers", () => {
  const example = readFileSync(join(directory, "example.ts"), "utf8");
  const wrong = example.replace('amount: "100.00" })', "amount: 100 })");
  expect(wrong).not.toBe(example);
  writeFileSync(join(directory, "wrong.ts"), wrong);
  const tsc = join(REPOSITORY, "node_modules/typescript/bin/tsc");
  const { stdout } = runNode(tsc, "-p", directory);
  // Another check covers compiler errors in the library itself.
  const errors = stdout.split("\n").filter((line) => /^(example|wrong)\.ts/.test(line));
  expect(errors).toEqual([expect.stringMatching(/^wrong\.ts.*not assignable to type 'string'/)]);
});
