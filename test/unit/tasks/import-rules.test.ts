// Every import rule is shown an import that it forbids, and one that it allows: a rule whose
// pattern matches nothing is silently off.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import importRules from "../../../.dependency-cruiser.cjs";
import { checkImports } from "../../../tasks/import-rules.js";

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "callgate-imports-"));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** A tree in which each file imports what is listed; whatever is imported exists. */
function plant(imports: Readonly<Record<string, readonly string[]>>): void {
  const packages = ["zod", "unbash", "homeless", "vitest"];
  for (const name of packages) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: "index.js" }));
    write(`node_modules/${name}/index.js`, "");
  }
  const manifest = {
    type: "module",
    dependencies: { zod: "1.0.0", unbash: "1.0.0", homeless: "1.0.0" },
    devDependencies: { vitest: "1.0.0" },
  };
  write("package.json", JSON.stringify(manifest));
  for (const [path, targets] of Object.entries(imports)) {
    const lines = targets.map((target) => `import ${JSON.stringify(target)};`);
    write(path, `${lines.join("\n")}\nexport const here = 1;\n`);
  }
}

/** The names of the rules that were broken, each with the file that broke it. */
async function brokenRules(): Promise<readonly string[]> {
  const { violations } = await checkImports(root);
  return violations.map((line) => line.replace(/ -> .*/, "")).sort();
}

test("every import of the table is allowed", async () => {
  plant({
    "services/commands/shell/s.ts": ["unbash"],
    "services/core/a.ts": ["./hash.ts", "../commands/shell/s.ts"],
    "services/core/hash.ts": ["node:crypto"],
    "services/runtime/b.ts": ["../core/a.ts"],
    "services/adapters/config/c.ts": ["node:fs", "../../runtime/b.ts"],
    "services/adapters/policy/p.ts": ["zod"],
    "services/adapters/log/l.ts": [],
    "services/adapters/lmdb/d.ts": ["../config/c.ts", "../log/l.ts", "../../core/a.ts"],
    "services/gate/e.ts": ["../adapters/lmdb/d.ts", "../runtime/b.ts", "../core/a.ts"],
    "services/gate/main.ts": ["./e.ts"],
    "services/executor/f.ts": [],
    "services/library/g.ts": ["../gate/e.ts", "../executor/f.ts", "node:path"],
    "services/cli/h.ts": ["../library/g.ts", "../gate/e.ts", "node:fs"],
  });
  const { violations, modules } = await checkImports(root);
  expect(violations).toEqual([]);
  expect(modules).toBe(13);
});

test.each([
  ["pure-folders-import-nothing-outside", "services/core/a.ts", "node:fs"],
  ["core-imports-only-what-is-below", "services/core/a.ts", "../runtime/b.ts"],
  ["pure-folders-import-nothing-outside", "services/core/a.ts", "node:crypto"],
  ["pure-folders-import-nothing-outside", "services/commands/x.ts", "node:fs"],
  ["commands-imports-only-what-is-below", "services/commands/x.ts", "../core/hash.ts"],
  ["pure-folders-import-nothing-outside", "services/commands/x.ts", "zod"],
  ["client-imports-only-what-is-below", "services/client/x.ts", "../adapters/lmdb/d.ts"],
  ["core-hash-imports-only-crypto", "services/core/hash.ts", "node:fs"],
  ["pure-folders-import-nothing-outside", "services/runtime/b2.ts", "node:fs"],
  ["runtime-imports-only-what-is-below", "services/runtime/b2.ts", "../adapters/lmdb/d.ts"],
  ["adapters-are-islands", "services/adapters/redis/x.ts", "../lmdb/d.ts"],
  ["adapters-imports-only-what-is-below", "services/adapters/redis/x.ts", "../../gate/e.ts"],
  ["executor-imports-only-what-is-below", "services/executor/x.ts", "../gate/e.ts"],
  ["gate-imports-only-what-is-below", "services/gate/x.ts", "../library/g.ts"],
  ["services-reach-node-through-adapters", "services/gate/x.ts", "node:fs"],
  ["services-stand-alone", "services/gate/x.ts", "../../test/t.ts"],
  ["commands-load-what-they-run-late", "services/cli/commands/x.ts", "../../gate/e.ts"],
  ["nothing-imports-the-cli", "services/library/x.ts", "../cli/h.ts"],
  ["no-package-without-a-home", "services/adapters/kafka/x.ts", "homeless"],
  ["no-undeclared-package", "services/library/x.ts", "vitest"],
  ["not-to-unresolvable", "services/library/x.ts", "./nowhere.ts"],
  ["only-policy-imports-zod", "services/gate/x.ts", "zod"],
])("%s: %s must not import %s", async (rule, from, to) => {
  plant({
    "services/core/hash.ts": [],
    "services/runtime/b.ts": [],
    "services/adapters/lmdb/d.ts": [],
    "services/gate/e.ts": [],
    "services/library/g.ts": [],
    "services/cli/h.ts": [],
    "test/t.ts": [],
    [from]: [to],
  });
  expect(await brokenRules()).toContain(`${rule}: ${from}`);
});

test("no-circular: two files must not import each other", async () => {
  plant({ "services/core/a.ts": ["./b.ts"], "services/core/b.ts": ["./a.ts"] });
  expect(await brokenRules()).toEqual(["no-circular: services/core/a.ts"]);
});

test("type-only imports count", async () => {
  plant({ "services/gate/e.ts": [] });
  write(
    "services/core/a.ts",
    'import type { here } from "../gate/e.ts";\nexport type A = typeof here;\n',
  );
  expect(await brokenRules()).toEqual(["core-imports-only-what-is-below: services/core/a.ts"]);
});

test("the cases above try each kind of rule", () => {
  const general = importRules.forbidden.filter(
    ({ name }) => !/^only-|-imports-only-what-is-below$/.test(name ?? ""),
  );
  expect(general).toHaveLength(11);
});
