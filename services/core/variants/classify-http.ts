import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { VariantClass } from "./variant-class.ts";

/** Methods that change nothing by RFC 9110; their answers stand until something is written. */
const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

export function classifyHttp(method: string): VariantClass {
  return SAFE.has(method.trim().toUpperCase()) ? "read" : "write";
}

/** Headers and parameters by which servers take another method than the one of the request. */
const OVERRIDE = /^(?:x-http-method(?:-override)?|x-method-override|_method)$/i;
const OVERRIDE_IN_TEXT =
  /(?:^|[\r\n])(?:x-http-method(?:-override)?|x-method-override)[ \t]*:[ \t]*([^\s]+)|(?:^|[?&])_method=([^&#]*)/gi;

/** Arguments are looked through so deep. */
const DEPTH_MAX = 4;

/** The method, and those that the arguments of the call ask the server to take instead. */
export function methodsOf(method: string, args: JsonObject): readonly string[] {
  const methods = [method];
  addOverrides(args, methods, DEPTH_MAX);
  return methods;
}

function addOverrides(value: JsonValue, methods: string[], depth: number): void {
  if (typeof value === "string") addOverridesIn(value, methods);
  if (typeof value !== "object" || value === null || depth === 0) return;
  for (const [key, member] of Object.entries(value)) {
    if (OVERRIDE.test(key)) methods.push(typeof member === "string" ? member : "");
    addOverrides(member, methods, depth - 1);
  }
}

function addOverridesIn(text: string, methods: string[]): void {
  // The name of a header or parameter, with its value somewhere beside it.
  if (OVERRIDE.test(text)) methods.push("");
  for (const [, header, parameter] of text.matchAll(OVERRIDE_IN_TEXT)) {
    methods.push(header ?? parameter ?? "");
  }
}
