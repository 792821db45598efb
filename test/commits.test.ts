// The subjects of the commits since the base commit, as git has them. A checkout without git has none;
// CI asks for them with `CALLGATE_REQUIRE=git`.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import base from "./support/commits/base-commit.json" with { type: "json" };
import { findSubjectFaults, parseCommitTypes } from "./support/commits/subject-faults.ts";
import { saySkipped } from "./support/skipped.ts";
import { readText } from "./support/source-tree.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TYPES = parseCommitTypes(readText("CONTRIBUTING.md"));

function git(...args: readonly string[]): { readonly ok: boolean; readonly output: string } {
  const { status, stdout } = spawnSync("git", ["-C", ROOT, ...args], { encoding: "utf8" });
  return { ok: status === 0, output: (stdout ?? "").trim() };
}

/** Why there are no commits to check; empty if there are. */
function findObstacle(): string {
  const root = git("rev-parse", "--show-prefix");
  if (!root.ok) return "git is not installed, or this is no checkout of git";
  if (root.output !== "") return "this is a folder of another repository's checkout";
  if (!git("rev-parse", "--verify", "HEAD").ok) return "the checkout has no commit";
  return "";
}

/** A shallow clone may lack the base; then all of its later commits are checked. */
function listNewCommits(): readonly (readonly [hash: string, subject: string])[] {
  const hasBase = git("merge-base", "--is-ancestor", base.commit, "HEAD").ok;
  const isShallow = git("rev-parse", "--is-shallow-repository").output === "true";
  expect(hasBase || isShallow, "the base commit must be an ancestor: see base-commit.json").toBe(
    true,
  );
  const range = hasBase ? [`${base.commit}..HEAD`] : [`--since=${base.date}`, "HEAD"];
  const log = git("log", "--no-merges", "--format=%h %s", ...range);
  expect(log.ok).toBe(true);
  const lines = log.output.split("\n").filter((line) => line !== "");
  return lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]);
}

const obstacle = findObstacle();
if (obstacle !== "") saySkipped("git", `the subjects of commits are not checked: ${obstacle}`);

test.skipIf(obstacle !== "")("every new commit has a subject in our form", () => {
  // Commits on main before this test are exempt; add none here.
  const commits = listNewCommits().filter(
    ([hash]) => !base.exempt.some((exempt) => exempt.startsWith(hash)),
  );
  const faults = commits.flatMap(([hash, subject]) =>
    findSubjectFaults(subject, TYPES).map((fault) => `${hash} ${fault}: ${subject}`),
  );
  expect(faults).toEqual([]);
});

describe("a subject", () => {
  test("has one of the types that CONTRIBUTING.md lists", () => {
    expect([...TYPES]).toEqual(expect.arrayContaining(["feat", "fix", "docs", "ci"]));
  });

  test.each([
    "feat(policy): add a key for the ceiling of a grant",
    "fix(shell): remove quadratic parsing",
    "refactor(core)!: nest the decision once",
    "docs(cli): need no more words, pass fewer",
  ])("is accepted: %s", (subject) => {
    expect(findSubjectFaults(subject, TYPES)).toEqual([]);
  });

  test.each([
    ["What ends late has tests", "is not `type(scope): imperative`"],
    ["fix: remove it", "is not `type(scope): imperative`"],
    ["repair(core): remove it", "has the type `repair`, which CONTRIBUTING.md does not list"],
    ["fix(core): Remove it", "begins with `Remove`, not with a verb in lower case"],
    ["fix(core): removed it", "begins with `removed`, which is no order"],
    ["fix(core): removes it", "begins with `removes`, which is no order"],
    ["fix(core): removing it", "begins with `removing`, which is no order"],
    ["fix(core): no more of it", "begins with `no`, which is no order"],
    ["fix(core): remove it.", "ends with a full stop"],
    [`fix(core): remove ${"it".repeat(30)}`, "has more than 72 characters"],
  ])("is refused: %s", (subject, fault) => {
    expect(findSubjectFaults(subject, TYPES)).toEqual([fault]);
  });
});
