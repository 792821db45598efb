// `npm run arch`: checks who imports whom. It also fails when it saw fewer modules than
// test/minimum-counts.json states, since a run that parses nothing finds no violation.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./ensure-installed.js";
import { checkImports } from "./import-rules.js";

const floor = JSON.parse(readFileSync(join(ROOT, "test/minimum-counts.json"), "utf8")).modules;
const { violations, modules } = await checkImports(ROOT);
for (const violation of violations) {
  process.stdout.write(`${violation}\n`);
}
process.stdout.write(
  `${violations.length} forbidden imports, ${modules} modules seen, at least ${floor} expected\n`,
);
if (modules < floor) {
  process.stdout.write("too few modules were parsed, so the import rules were not checked\n");
}
process.exitCode = violations.length > 0 || modules < floor ? 1 : 0;
