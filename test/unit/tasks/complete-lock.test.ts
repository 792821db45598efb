import { describe, expect, test } from "vitest";
import { fillHole, findHoles } from "../../../tasks/complete-lock.js";

describe("holes in the lock", () => {
  test("are optional packages that Node would not find", () => {
    const packages = {
      "": {},
      "node_modules/a": {
        optionalDependencies: { "a-linux-x64": "1.0.0", "a-darwin-x64": "1.0.0" },
      },
      "node_modules/a-linux-x64": { version: "1.0.0" },
      "node_modules/b": {},
      "node_modules/b/node_modules/c": {
        dev: true,
        optionalDependencies: { d: "2.0.0", e: "2.0.0" },
      },
      "node_modules/b/node_modules/d": { version: "2.0.0" },
    };
    expect(findHoles(packages)).toEqual([
      { name: "a-darwin-x64", version: "1.0.0", dev: false },
      { name: "e", version: "2.0.0", dev: true },
    ]);
  });

  test.each([
    ["@x/cli-darwin-arm64", { os: ["darwin"], cpu: ["arm64"] }],
    ["@x/cli-linux-x64-musl", { os: ["linux"], cpu: ["x64"], libc: ["musl"] }],
    ["@x/cli-linux-arm-gnueabihf", { os: ["linux"], cpu: ["arm"], libc: ["glibc"] }],
    ["@x/cli-win32-ia32-msvc", { os: ["win32"], cpu: ["ia32"] }],
  ])("are filled for the platform that %s names", (name, platform) => {
    const entry = fillHole({ name, version: "1.2.3", dev: false });
    expect(entry).toEqual({ version: "1.2.3", optional: true, ...platform });
  });

  test("are left to a person without a platform or an exact version", () => {
    expect(() => fillHole({ name: "left-pad", version: "1.0.0", dev: false })).toThrow("by hand");
    expect(() => fillHole({ name: "a-linux-x64", version: "^1.0.0", dev: false })).toThrow(
      "by hand",
    );
  });
});
