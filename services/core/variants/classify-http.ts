import type { VariantClass } from "./variant-class.ts";

/** Methods that change nothing by RFC 9110; their answers stand until something is written. */
const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

export function classifyHttp(method: string): VariantClass {
  return SAFE.has(method.trim().toUpperCase()) ? "read" : "write";
}
