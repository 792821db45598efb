// `npm run infra:check`: checks the files of infra/ that no test runs: the compose file by its schema
// (check-jsonschema, installed from PyPI into the cache), the alert rules and their tests with promtool
// (Debian package prometheus). Exit code 3: one of the two programs is missing.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../infra/local/folders.js";
import { VERSIONS } from "../infra/local/versions.js";
import { ROOT } from "./ensure-installed.js";

const MISSING = 3;
const PROMETHEUS = "infra/prometheus";

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
  if (error !== undefined) process.stderr.write(`infra:check: ${command}: ${error.message}\n`);
  return status === 0;
}

/** @returns {string | undefined} the program; undefined if it could not be installed */
function findCheckJsonschema() {
  const version = VERSIONS.checkJsonschema;
  const folder = join(cacheFolder(), `check-jsonschema-${version}`);
  const program = join(folder, "bin", "check-jsonschema");
  if (existsSync(program)) return program;
  mkdirSync(cacheFolder(), { recursive: true });
  const pip = join(folder, "bin", "pip");
  const install = ["install", "--quiet", `check-jsonschema==${version}`];
  if (run("python3", ["-m", "venv", folder]) && run(pip, install)) return program;
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

const checkJsonschema = findCheckJsonschema();
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (checkJsonschema === undefined || !hasPromtool) {
  process.stderr.write(
    "infra:check: it needs promtool (Debian: apt-get install prometheus) and check-jsonschema " +
      "(python3 with venv; Debian: apt-get install python3-venv)\n",
  );
  process.exitCode = MISSING;
} else {
  const checks = [
    run(checkJsonschema, ["--builtin-schema", "vendor.compose-spec", "docker-compose.yml"]),
    run("promtool", ["check", "config", `${PROMETHEUS}/prometheus.yml`]),
    run("promtool", ["test", "rules", `${PROMETHEUS}/callgate.test.yml`]),
  ];
  process.exitCode = checks.every(Boolean) ? 0 : 1;
}
