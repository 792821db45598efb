// Runs the launcher of the command line on a small project of its own: the real bin/ and tasks/,
// the real compiler, and a main.ts that says what it was given.
import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const BUILDING = "callgate: building";

const ECHO = `
process.stdout.write(JSON.stringify(process.argv.slice(2)) + "\\n");
process.exitCode = Number(process.argv[2] ?? 0);
`;

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "callgate-launcher-"));
  for (const path of ["bin", "tasks", "tsconfig.json", "package.json"]) {
    cpSync(join(REPOSITORY, path), join(root, path), { recursive: true });
  }
  symlinkSync(join(REPOSITORY, "node_modules"), join(root, "node_modules"));
  mkdirSync(join(root, "services", "cli"), { recursive: true });
  writeMain(ECHO);
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function writeMain(text: string): void {
  writeFileSync(join(root, "services", "cli", "main.ts"), `${text}\nexport {};\n`);
}

type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

function start(...args: readonly string[]): ChildProcess {
  const { npm_lifecycle_event: _, ...env } = process.env;
  return spawn(process.execPath, [join(root, "bin", "callgate.js"), ...args], {
    cwd: tmpdir(),
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function ended(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

const run = (...args: readonly string[]): Promise<Ended> => ended(start(...args));

test("builds once, passes on arguments and exit code, and keeps stdout for the command", async () => {
  const first = await run("1", "two words", "--json");
  expect(first).toMatchObject({ code: 1, stdout: '["1","two words","--json"]\n' });
  expect(first.stderr).toContain(BUILDING);

  const second = await run();
  expect(second).toEqual({ code: 0, signal: null, stdout: "[]\n", stderr: "" });
});

test("builds again when a source is changed, added or removed", async () => {
  await run();
  writeMain(`import { word } from "./word.ts";\nprocess.stdout.write(word);`);
  writeFileSync(join(root, "services", "cli", "word.ts"), 'export const word = "new";\n');
  expect(await run()).toMatchObject({ code: 0, stdout: "new" });

  const past = new Date(0);
  utimesSync(join(root, "services", "cli", "word.ts"), past, past);
  expect((await run()).stderr).toContain(BUILDING);

  rmSync(join(root, "services", "cli", "word.ts"));
  expect(await run()).toMatchObject({ code: 3, stdout: "" });
});

test("builds once and runs both if it is started twice at once", async () => {
  const both = await Promise.all([run("0", "a"), run("0", "b")]);
  expect(both.map(({ stdout }) => stdout)).toEqual(['["0","a"]\n', '["0","b"]\n']);
  const builders = both.filter(({ stderr }) => stderr.includes(BUILDING));
  expect(builders).toHaveLength(1);
});

test("takes over the lock of a build that died", async () => {
  const dead = spawn(process.execPath, ["-e", ""]);
  await ended(dead);
  mkdirSync(join(root, "dist-build.lock"));
  writeFileSync(join(root, "dist-build.lock", "pid"), String(dead.pid));
  expect(await run("0")).toMatchObject({ code: 0, stdout: '["0"]\n' });
});

test("reports compile errors, and exits with 3", async () => {
  writeMain("const wrong: number = 'text';\nprocess.stdout.write(String(wrong));");
  const outcome = await run();
  expect(outcome).toMatchObject({ code: 3, stdout: "" });
  expect(outcome.stderr).toContain("services/cli/main.ts(1,7): error TS2322");
});

test("resolves paths from the subdirectory in which npm run was started", async () => {
  writeMain("process.stdout.write(process.cwd());");
  const child = spawn("npm", ["run", "-s", "callgate"], {
    cwd: join(root, "services", "cli"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await ended(child)).toMatchObject({
    code: 0,
    stdout: realpathSync(join(root, "services", "cli")),
  });
});

test.each(["SIGINT", "SIGTERM"] as const)("leaves %s to the command", async (signal) => {
  writeMain(`
process.on("${signal}", () => {
  process.stdout.write("stopping");
  process.exitCode = 7;
  clearInterval(timer);
});
const timer = setInterval(() => {}, 1000);
process.stdout.write("ready ");`);
  const child = start();
  const end = ended(child);
  child.stdout?.once("data", () => child.kill(signal));
  expect(await end).toMatchObject({ code: 7, stdout: "ready stopping" });
});

test("runs the published build if there are no sources", async () => {
  await run();
  rmSync(join(root, "services"), { recursive: true });
  rmSync(join(root, "tasks"), { recursive: true });
  expect(await run("0", "x")).toEqual({ code: 0, signal: null, stdout: '["0","x"]\n', stderr: "" });
});
