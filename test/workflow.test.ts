// Checks the workflow of CI: its scripts and parts exist, it runs each supported version of Node, and
// nothing in it can be off unnoticed.

import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { listTextFiles, readText } from "./support/source-tree.ts";

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly "runs-on": string;
  readonly "timeout-minutes": number;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflow: Workflow = parse(readText(".github/workflows/ci.yml"));
const manifest = JSON.parse(readText("package.json"));
const jobs = Object.entries(workflow.jobs);
const steps = jobs.flatMap(([, job]) => job.steps);

describe("the workflow", () => {
  test("runs for each pull request and push to main, with read-only rights", () => {
    expect(workflow.on).toMatchObject({ pull_request: null, push: { branches: ["main"] } });
    expect(workflow.permissions).toEqual({ contents: "read" });
  });

  test.each(jobs)("has a machine, a time limit and well-formed steps: %s", (_, job) => {
    expect(job["runs-on"]).toMatch(/^ubuntu-\d/);
    expect(job["timeout-minutes"]).toBeGreaterThan(0);
    for (const step of job.steps) {
      expect([step, "uses" in step !== "run" in step]).toEqual([step, true]);
    }
  });

  test("pins each action to a version, and fetches all commits", () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions.filter((action) => !/^[\w-]+\/[\w-]+@v\d+$/.test(action))).toEqual([]);
    const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts).toHaveLength(jobs.length);
    for (const { with: options } of checkouts) expect(options).toEqual({ "fetch-depth": 0 });
  });

  test("calls only scripts of package.json", () => {
    const scripts = steps.flatMap(({ run = "" }) =>
      Array.from(run.matchAll(/npm (?:run (?:-s )?|(?=test))([\w:]+)/g), ([, name]) => name),
    );
    expect(scripts).toEqual(expect.arrayContaining(["test", "demo", "coverage", "coverage:show"]));
    expect(scripts.filter((name) => !(name && name in manifest.scripts))).toEqual([]);
  });

  test("tests each supported version of Node, the oldest to the minor", () => {
    const versions = workflow.jobs["node"]?.strategy?.matrix["node"] ?? [];
    expect(versions).toEqual(["20.20", "22", "24"]);
    expect(manifest.engines.node).toBe(`>=${versions[0]}.0`);
  });

  test("runs each part of .ci/run", () => {
    const [, list = ""] = /^PARTS="(.+)"$/m.exec(readText(".ci/run")) ?? [];
    expect(list.split(" ").length).toBeGreaterThan(3);
    expect(workflow.jobs["verify"]?.strategy?.matrix["part"]).toEqual(list.split(" "));
  });

  test("fetches all commits where their test runs", () => {
    const runs = steps.filter(({ run }) => run?.startsWith("npm test"));
    expect(runs.length).toBeGreaterThan(0);
    for (const { env } of runs) expect(env?.["CALLGATE_REQUIRE"]).toBe("git");
    expect(readText(".ci/run")).toContain("CALLGATE_REQUIRE=git,kafka,python,redis,registry");
  });
});

describe("the forms for issues", () => {
  const forms = listTextFiles().filter((path) =>
    /^\.github\/ISSUE_TEMPLATE\/(?!config)/.test(path),
  );

  test("exist", () => {
    expect(forms.length).toBeGreaterThan(1);
  });

  test.each(forms)("have a name, a description and fields with ids: %s", (path) => {
    const { name, description, body } = parse(readText(path));
    expect([typeof name, typeof description]).toEqual(["string", "string"]);
    const fields: readonly { type: string; id?: string }[] = body;
    const ids = fields.filter(({ type }) => type !== "markdown").map(({ id }) => id);
    expect(ids.every((id) => id !== undefined)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
