// The Python client's own tests (pytest), which start `callgate serve` as its users do.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { findPython } from "../support/python/python.ts";

const CLIENT = fileURLToPath(new URL("../../clients/python", import.meta.url));
const python = await findPython(join(CLIENT, "requirements-test.txt"));

/** Runs pytest to its end, and returns what it printed. */
function runPytest(): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const args = ["-m", "pytest", "-q", "-ra", "--tb=short", "--color=no"];
    const child = spawn(python.path, args, { cwd: CLIENT, stdio: ["ignore", "pipe", "pipe"] });
    const chunks: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => chunks.push(text));
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output: chunks.join("") }));
  });
}

describe.skipIf(!python.available)("the Python client", () => {
  test("passes its own tests against a real server", async () => {
    const { code, output } = await runPytest();
    expect(output).toMatch(/^\d+ passed/m);
    expect(output).not.toMatch(/\d+ (failed|errors?|skipped)/);
    expect(code).toBe(0);
  });
});
