import { describe, expect, it } from "vitest";
import { listAnchors, listLinks, listPaths, matchesFile } from "../../support/documents.ts";

describe("anchors", () => {
  it("are those that GitHub gives", () => {
    const text = "# One: `two` & [three](x.md)\n\n## Same\n\n```sh\n# not one\n```\n\n## Same\n";
    expect([...listAnchors(text)]).toEqual(["one-two--three", "same", "same-1"]);
  });
});

describe("links", () => {
  it("have a path and an anchor", () => {
    const text = "[a](a.md#b) [c](#d) [e](e.md) [f](https://g.org/h#i)\n\n```\n[j](k.md)\n```\n";
    expect(listLinks(text)).toEqual([
      { path: "a.md", anchor: "b" },
      { path: "", anchor: "d" },
      { path: "e.md", anchor: null },
    ]);
  });
});

describe("named paths", () => {
  it("are words in code that exist in the repository or are sources", () => {
    const text = "`npx vitest run test/unit/core`, `decide/x.ts`, `npm`, test/not/code, `a/b`";
    expect(listPaths(text)).toEqual(["test/unit/core", "decide/x.ts"]);
  });

  it("stand for files from the root, by their end, or with placeholders", () => {
    const files = ["services/core/decide/x.ts", "services/core/y.ts"];
    for (const path of [
      "services/core/",
      "decide/x.ts",
      "x.ts",
      "services/core/<name>.ts",
      "services/core/{y,decide/x}.ts",
      "services/**/x.ts",
    ]) {
      expect([path, matchesFile(path, files)]).toEqual([path, true]);
    }
    for (const path of ["services/core/x.ts", "ide/x.ts", "services/core/{y,z}.ts", "services/c"]) {
      expect([path, matchesFile(path, files)]).toEqual([path, false]);
    }
  });
});
