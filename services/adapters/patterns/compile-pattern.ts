/**
 * Compiles regular expressions of policies and tool schemas for an engine whose time is linear in
 * the text, so that no pattern of an author or a tool server can stall the gate.
 */
import { RE2JS } from "re2js";
import type {
  CapabilityProblem,
  CompiledPattern,
  PatternOptions,
} from "../../core/capabilities.ts";

/** Longest accepted pattern, in characters. Hand-written patterns are far below it. */
const PATTERN_LENGTH_MAX = 2_000;

/**
 * Compiles a pattern in ECMAScript syntax. Look-around and back-references are refused, since an
 * engine with linear time cannot run them.
 */
export function compilePattern(
  pattern: string,
  { ignoreCase = false, dotAll = false }: PatternOptions = {},
): CompiledPattern | CapabilityProblem {
  if (pattern.length > PATTERN_LENGTH_MAX) {
    return { ok: false, problem: `the pattern is longer than ${PATTERN_LENGTH_MAX} characters` };
  }
  try {
    const flags = (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (dotAll ? RE2JS.DOTALL : 0);
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern), flags);
    return { ok: true, test: (text) => compiled.test(text) };
  } catch (error) {
    return { ok: false, problem: explain(error) };
  }
}

function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = text.replace(/^error parsing regexp: /, "");
  if (/`?\(\?<?[=!]/.test(text)) {
    return "look-ahead and look-behind are not supported: they cannot run in linear time";
  }
  if (/invalid escape sequence: `?\\[1-9]/.test(text)) {
    return "back-references are not supported: they cannot run in linear time";
  }
  return `not a regular expression that runs in linear time: ${cause}`;
}
