import { runInThisContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { guardPurity } from "../../support/purity-guard.ts";

/** Compiles `body` as if it stood in a file of the core. */
function asCore(body: string): () => unknown {
  return runInThisContext(`(() => ${body})`, { filename: "/app/services/core/probe.ts" });
}

describe("the purity guard", () => {
  let unguard = () => {};
  beforeEach(() => {
    unguard = guardPurity();
  });
  afterEach(() => unguard());

  test.each(["Date.now()", "Math.random()", "new Date()", "Date()"])(
    "stops %s in the core",
    (body) => {
      expect(asCore(body)).toThrow("was called from services/core");
    },
  );

  test("lets all other code read the clock and draw numbers", () => {
    expect(Date.now()).toBeGreaterThan(0);
    expect(new Date().getUTCFullYear()).toBeGreaterThan(2000);
    expect(Math.random()).toBeLessThan(1);
  });

  test("lets the core build a date from a number", () => {
    expect(asCore("new Date(0).getTime()")()).toBe(0);
  });

  test("can be removed", () => {
    unguard();
    expect(asCore("Math.random()")()).toBeLessThan(1);
  });
});
