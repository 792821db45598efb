// A replay holds one conversation at a time: 25 times the input must not need more memory.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { peakMegabytes, runCallgate } from "../../support/run-callgate.ts";

const POLICY = fileURLToPath(new URL("../../../infra/policies/demo.yaml", import.meta.url));
const CONVERSATIONS = 400;
const CALLS = 20;
const OUTPUT = "x".repeat(1_000);
const TIMES = 25;

/** More than garbage varies by; the larger input is 200 MB unpacked. */
const GROWTH_MEGABYTES_MAX = 120;

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "callgate-memory-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** About 8 MB of distinct calls, so that retained state would show. */
function recording(): string {
  const lines = Array.from({ length: CONVERSATIONS }, (_, line) => {
    const calls = Array.from({ length: CALLS }, (_unused, call) => ({
      tool: call % 2 === 0 ? "get_order" : "pay",
      args: { order_id: `${line}-${call}`, to: "ann", amount: call, currency: "EUR" },
      output: `${line} ${call} ${OUTPUT}`,
    }));
    return `${JSON.stringify({ id: `c${line}`, calls })}\n`;
  });
  return lines.join("");
}

test("the peak memory of a replay does not grow with the file", async () => {
  const packed = gzipSync(recording());
  const once = join(directory, "once.jsonl.gz");
  const often = join(directory, "often.jsonl.gz");
  writeFileSync(once, packed);
  for (let time = 0; time < TIMES; time += 1) appendFileSync(often, packed);
  const measure = async (path: string) => {
    const args = ["replay", path, "--policy", POLICY, "--json"];
    const run = await runCallgate(args, { cwd: directory, reportPeak: true });
    expect(run.code).toBe(0);
    return { calls: JSON.parse(run.stdout).total.calls, peak: peakMegabytes(run) };
  };
  await measure(once);
  const small = await measure(once);
  const large = await measure(often);
  expect(large.calls).toBe(TIMES * small.calls);
  process.stdout.write(
    `replay: ${small.peak.toFixed(0)} MB for one file, ${large.peak.toFixed(0)} MB for ${TIMES} times it\n`,
  );
  expect(large.peak - small.peak).toBeLessThan(GROWTH_MEGABYTES_MAX);
});
