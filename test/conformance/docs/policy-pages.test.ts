// The policies and cases in the pages for policy authors are run by `callgate policy test`, as a reader runs them.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { runInProcess } from "../../support/memory-terminal.ts";

const ROOT = new URL("../../../", import.meta.url);
const TEMPLATES = fileURLToPath(new URL("infra/policies/templates/", ROOT));
const directory = mkdtempSync(join(tmpdir(), "callgate-pages-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The YAML blocks of a page, by their first line, which is a comment. */
function readBlocks(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(new URL(`docs/${page}`, ROOT), "utf8");
  const blocks = [...text.matchAll(/```yaml\n# (.+)\n([\s\S]*?)```/g)];
  return new Map(blocks.map(([, title = "", body = ""]) => [title, body]));
}

describe("docs/policy.md", () => {
  const blocks = readBlocks("policy.md");
  const policy = join(directory, "shop.yaml");
  writeFileSync(policy, blocks.get("shop.yaml") ?? "");
  writeFileSync(join(directory, "shop.test.yaml"), blocks.get("shop.test.yaml") ?? "");

  test("has a policy whose cases pass", async () => {
    const { code, stdout } = await runInProcess(["policy", "test", "-p", policy]);
    expect(stdout).toContain("3 cases, 0 failed");
    expect(code).toBe(0);
  });

  test("has conditions whose cases pass, and in which lint finds no mistake", async () => {
    const refunds = join(directory, "refunds.yaml");
    writeFileSync(refunds, blocks.get("refunds.yaml") ?? "");
    writeFileSync(join(directory, "refunds.test.yaml"), blocks.get("refunds.test.yaml") ?? "");
    const { stdout } = await runInProcess(["policy", "test", "-p", refunds]);
    expect(stdout).toContain("2 cases, 0 failed");
    const linted = await runInProcess(["policy", "lint", refunds]);
    expect(linted.stdout).toContain("0 errors, 0 warnings");
    const call = '{"tool":"issue_refund","args":{"refund_id":"r1","amount":"60 EUR"}}';
    const explained = await runInProcess(["policy", "explain", "-p", refunds, "--call", call]);
    expect(explained.stdout).toContain("`small refunds` does not");
  });

  test("has budgets whose cases pass, and in which lint finds no mistake", async () => {
    const spending = join(directory, "spending.yaml");
    writeFileSync(spending, blocks.get("spending.yaml") ?? "");
    writeFileSync(join(directory, "spending.test.yaml"), blocks.get("spending.test.yaml") ?? "");
    const { stdout } = await runInProcess(["policy", "test", "-p", spending]);
    expect(stdout).toContain("1 case, 0 failed");
    const linted = await runInProcess(["policy", "lint", spending]);
    expect(linted.stdout).toContain("0 errors, 0 warnings");
    const args = { order_id: "o1", amount: 101, currency: "EUR" };
    const call = JSON.stringify({ tool: "issue_refund", args });
    const explained = await runInProcess(["policy", "explain", "-p", spending, "--call", call]);
    expect(explained.stdout).toContain("`refunds` does not apply: spent of");
    expect(explained.stdout).toContain("`refunds` for each day: 0 calls, nothing of 500.00 EUR");
  });

  test("has a policy in which lint finds no mistake", async () => {
    const { code, stdout } = await runInProcess(["policy", "lint", policy]);
    expect(stdout).toContain("0 errors, 0 warnings");
    expect(code).toBe(0);
  });

  test("has a call that `explain` traces", async () => {
    const page = readFileSync(new URL("docs/policy.md", ROOT), "utf8");
    const call = /policy explain -p shop\.yaml --call '(.+)'/.exec(page)?.[1] ?? "";
    const { stdout } = await runInProcess(["policy", "explain", "-p", policy, "--call", call]);
    expect(stdout).toContain("charge_card, a write: allowed");
  });
});

describe("docs/policies-annotated.md", () => {
  const blocks = readBlocks("policies-annotated.md");

  test.each(["support-agent", "payments", "coding-agent"])(
    "has cases of %s that pass",
    async (name) => {
      const policy = join(directory, `${name}.yaml`);
      copyFileSync(join(TEMPLATES, `${name}.yaml`), policy);
      const cases = blocks.get(`cases for ${name}.yaml`) ?? "";
      expect(cases).not.toBe("");
      writeFileSync(join(directory, `${name}.test.yaml`), cases);
      const { code, stdout } = await runInProcess(["policy", "test", "-p", policy]);
      expect(stdout).toMatch(/\d+ cases?, 0 failed/);
      expect(code).toBe(0);
    },
  );
});
