// Rules of the repository that no linter checks. Each rule is a list of offenders that must be empty, so
// that a failure names file and line.
import { describe, expect, test } from "vitest";
import importRules from "../.dependency-cruiser.cjs";
import { REASON_CODES } from "../services/core/reasons/reasons.ts";
import { findHoles } from "../tasks/complete-lock.js";
import minimumCounts from "./minimum-counts.json" with { type: "json" };
import { listAnchors, listLinks, listPaths, matchesFile } from "./support/documents.ts";
import { findSharedTags, findShortTags } from "./support/invariant-tags.ts";
import { findLines, listTextFiles, listUses, readText } from "./support/source-tree.ts";

const FILE_LINES_MAX = 400;
const TEST_FILE_LINES_MAX = 600;

const files = listTextFiles();
const code = files.filter((path) => /\.(ts|mts|js|mjs|cjs)$/.test(path));
const shipped = code.filter((path) => path.startsWith("services/"));
const pure = shipped.filter((path) =>
  /^services\/(core\/(?!ambient\/)|commands\/|collections\/)/.test(path),
);
const prose = files.filter((path) => path.endsWith(".md"));
const COPIED = ["test/fixtures/", "test/eval/tools/definitions/"];
const written = files.filter((path) => !COPIED.some((folder) => path.startsWith(folder)));

/** Uses of the names in the code of `paths`, except in the files that may use them. */
function findUses(paths: readonly string[], names: RegExp, allowed?: RegExp): readonly string[] {
  return paths
    .filter((path) => allowed?.test(path) !== true)
    .flatMap((path) =>
      listUses(path)
        .filter(({ name }) => names.test(name))
        .map(({ name, line }) => `${path}:${line}: ${name}`),
    );
}

test("finds the files of the repository", () => {
  expect(shipped.length).toBeGreaterThan(20);
  expect(files).toEqual(expect.arrayContaining(["package.json", ".ci/run", "test/tidy.test.ts"]));
});

describe("code", () => {
  test("fits in its file", () => {
    // A type that is written by a program, one member for each key of a policy.
    const written = code.filter((path) => path !== "services/core/policy/document.ts");
    const long = written.filter((path) => {
      const max = path.startsWith("test/") ? TEST_FILE_LINES_MAX : FILE_LINES_MAX;
      return readText(path).trimEnd().split("\n").length > max;
    });
    expect(long).toEqual([]);
  });

  test("has no open tasks and no untyped escapes", () => {
    expect(findLines(code, /\bTO[D]O\b|\bFIX[M]E\b|\bX[X]X\b/)).toEqual([]);
    expect(findLines(code, /\bas an[y]\b(?! \w)|<an[y]>|@ts-(ignor[e]|nochec[k])/)).toEqual([]);
  });

  test("gives a reason with every exemption from a rule", () => {
    expect(findLines(code, /biome-ignor[e](?!(-all|-start)? [\w/]+: \S.{9,})/)).toEqual([]);
    expect(findLines(code, /(?:ox|es)lint-disabl[e](?!.* -- \S.{9,})/)).toEqual([]);
    expect(findLines(code, /@ts-expect-erro[r](?!:? \S.{9,})/)).toEqual([]);
  });

  test("reads the environment in one file and exits in composition roots only", () => {
    const readEnv = /^services\/adapters\/config\/read-env\.ts$/;
    expect(findUses(shipped, /^process\.env$/, readEnv)).toEqual([]);
    expect(findUses(shipped, /^process\.(exit|abort)$/, /\/main\.ts$/)).toEqual([]);
  });

  test("calls no undocumented functions of buffers", () => {
    const names = /\.(?:utf8|latin1|ascii|ucs2|hex|base64)(?:Write|Slice)\b/;
    expect(shipped.filter((path) => names.test(readText(path)))).toEqual([]);
  });

  test("of core, commands and collections uses no clock, randomness, locale or process", () => {
    const banned =
      /^(Math\.random|Date|globalThis|Intl|process|performance|localeCompare|toLocale\w+)$/;
    expect(pure.length).toBeGreaterThan(150);
    expect(findUses(pure, banned)).toEqual([]);
  });
});

describe("an invariant's tag", () => {
  test("is defined in one file", () => {
    expect(findSharedTags(shipped)).toEqual([]);
  });

  test("begins with a word of its module", () => {
    expect(
      findShortTags([...shipped, ...prose.filter((path) => path.startsWith("docs/"))]),
    ).toEqual([]);
  });
});

test("every reason code has its entry in the published list, in the same order", () => {
  const published: { reasons: readonly { code: string }[] } = JSON.parse(
    readText("schemas/reasons.json"),
  );
  expect(published.reasons.map(({ code }) => code)).toEqual(REASON_CODES);
});

describe("tests", () => {
  test("are neither left out nor run alone", () => {
    const tests = code.filter((path) => path.startsWith("test/"));
    expect(findLines(tests, /\b(test|it|describe)\.(onl[y]|tod[o]|ski[p])\b/)).toEqual([]);
  });

  test("have a minimum of parsed modules that is near their number", () => {
    const modules = shipped.filter((path) => !path.endsWith(".d.ts")).length;
    expect(minimumCounts.modules).toBeGreaterThan(modules / 3);
    expect(minimumCounts.modules).toBeLessThanOrEqual(modules);
  });
});

describe("packages", () => {
  const manifest: Record<
    "dependencies" | "optionalDependencies" | "peerDependencies" | "devDependencies",
    Record<string, string>
  > = JSON.parse(readText("package.json"));
  // A peer is the user's to choose; the version that the tests use is pinned.
  const peers = Object.keys(manifest.peerDependencies).map((name) => [
    name,
    manifest.devDependencies[name] ?? "not installed for tests",
  ]);
  const needed: Record<string, string> = {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...Object.fromEntries(peers),
  };

  test("are pinned exactly, and each has one folder that imports it", () => {
    const loose = Object.entries(needed).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
    expect(loose).toEqual([]);
    const ruled = importRules.forbidden
      .map(({ name }) => /^only-[\w-]+?-imports-(.+)$/.exec(name ?? "")?.[1])
      .filter((name) => name !== undefined);
    expect(ruled.sort()).toEqual(Object.keys(needed).sort());
  });

  test("are all in the lock, including those for other platforms", () => {
    const lock = JSON.parse(readText("package-lock.json"));
    expect(findHoles(lock.packages)).toEqual([]);
  });

  test("come from the registry that the machine uses", () => {
    expect(findLines(["package-lock.json"], /"resolved"/)).toEqual([]);
    expect(findLines([".npmrc"], /registry\s*=|_auth|:_password/)).toEqual([]);
  });
});

describe("the repository", () => {
  test("contains no paths of a machine and no host of a registry", () => {
    const machinePaths = /(?<![\w.])\/(wor[k]|roo[t]|home\/[a-z]+|tmp\/c[g])\//;
    expect(findLines(written, machinePaths)).toEqual([]);
    // After a scheme, or with a domain that hosts end in: `registry.schemas.set` is code.
    const host =
      /\/\/registr[y]\.[a-z0-9-]+\.|\bregistr[y]\.[a-z0-9-]+\.(com|org|net|io|dev|lan|internal)\b/;
    expect(findLines(written, host)).toEqual([]);
  });

  test("has no conflict markers of a merge", () => {
    expect(findLines(written, /^(<{7}|>{7})( |$)/m)).toEqual([]);
  });

  test("names no author and no plan", () => {
    const authorship = /co-authored-b[y]|signed-off-b[y]|@autho[r]\b|\bmileston[e]s?\b/i;
    expect(findLines(written, authorship)).toEqual([]);
  });

  test("has no merge that was left open", () => {
    expect(findLines(written, /^(?:<{7}|>{7}) /)).toEqual([]);
  });

  test("has one title in each document", () => {
    const bad = prose.filter((path) => {
      const outsideCode = readText(path).replaceAll(/^```[\s\S]*?^```/gm, "");
      return outsideCode.match(/^# .+/gm)?.length !== 1;
    });
    expect(bad).toEqual([]);
  });

  test("has only links that lead somewhere", () => {
    const isThere = (target: string) =>
      files.includes(target) ||
      files.some((file) => file.startsWith(`${target}/`)) ||
      target === "LICENSE";
    const broken = prose.flatMap((path) =>
      listLinks(readText(path))
        .filter((link) => link.path !== "" && !isThere(resolveLink(path, link.path)))
        .map((link) => `${path}: ${link.path}`),
    );
    expect(broken).toEqual([]);
  });

  test("has links to headings that exist", () => {
    const anchors = new Map(prose.map((path) => [path, listAnchors(readText(path))]));
    const broken = prose.flatMap((path) =>
      listLinks(readText(path)).flatMap((link) => {
        if (link.anchor === null) return [];
        const target = link.path === "" ? path : resolveLink(path, link.path);
        const exists = anchors.get(target)?.has(link.anchor) === true;
        return exists ? [] : [`${path}: ${link.path}#${link.anchor}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("has the files that its documents name in code", () => {
    const missing = prose
      .filter((path) => !path.startsWith("test/fixtures/"))
      .flatMap((path) =>
        listPaths(readText(path))
          .filter((name) => !FILES_OF_READERS.has(name) && !matchesFile(name, files))
          .map((name) => `${path}: ${name}`),
      );
    expect(missing).toEqual([]);
  });
});

/** Paths in the directories of readers. */
const FILES_OF_READERS: ReadonlySet<string> = new Set(["pay.mts", "src/*.ts"]);

function resolveLink(from: string, path: string): string {
  return new URL(path, `file:///${from}`).pathname.slice(1);
}
