// Setup file of the unit and property projects. While the tests of services/core run, reading the
// clock or drawing a random number from core code throws. The caller is found on the stack, so that
// the test runner and fast-check, which read both, go on working.
import { afterAll, expect } from "vitest";

const CORE_FRAME = /[\\/]services[\\/]core[\\/]/;
const CORE_TEST = /[\\/]test[\\/](unit|property)[\\/]core[\\/]/;

/** Thrown instead of a value: a core that reads the clock is not deterministic. */
export class ImpureCoreError extends Error {
  override name = "ImpureCoreError";
}

function assertNotFromCore(what: string): void {
  const depth = Error.stackTraceLimit;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  const stack = new Error("who asks").stack ?? "";
  Error.stackTraceLimit = depth;
  if (CORE_FRAME.test(stack)) {
    throw new ImpureCoreError(`${what} was called from services/core: pass the value in instead`);
  }
}

/**
 * Replaces Date.now, Math.random and the clock-reading forms of Date; returns a function that
 * undoes it.
 */
export function guardPurity(): () => void {
  const real = { Date: globalThis.Date, random: Math.random };
  const now = (): number => {
    assertNotFromCore("Date.now");
    return real.Date.now();
  };
  Math.random = (): number => {
    assertNotFromCore("Math.random");
    return real.random();
  };
  globalThis.Date = new Proxy(real.Date, {
    get: (target, key, receiver) => (key === "now" ? now : Reflect.get(target, key, receiver)),
    construct: (target, args, newTarget) => {
      if (args.length === 0) {
        assertNotFromCore("new Date()");
      }
      return Reflect.construct(target, args, newTarget);
    },
    apply: (target, thisArg, args) => {
      assertNotFromCore("Date()");
      return Reflect.apply(target, thisArg, args);
    },
  });
  return () => {
    globalThis.Date = real.Date;
    Math.random = real.random;
  };
}

if (CORE_TEST.test(expect.getState().testPath ?? "")) {
  // Files share a worker, and the next file may not test the core.
  afterAll(guardPurity());
}
