import { readFileSync } from "node:fs";
import { type LoadResult, loadPolicy } from "../adapters/policy/load.ts";
import { NotUtf8Error, utf8Text } from "../adapters/system/utf8-text.ts";
import { CallgateError } from "../client/api/callgate-error.ts";
import { formatProblem, type PolicyProblem } from "../core/policy/problem.ts";

/** Paths of policy files, which are merged; or the policy itself. */
export type PolicyInput = { readonly files: readonly string[] } | { readonly document: object };

/** @throws CallgateError `policy_unreadable` */
export function readPolicy(input: PolicyInput): LoadResult {
  if ("document" in input) return loadPolicy(input.document);
  return loadPolicy(input.files.map((name) => ({ name, text: readText(name) })));
}

function readText(path: string): string {
  try {
    return utf8Text(readFileSync(path));
  } catch (cause) {
    if (cause instanceof NotUtf8Error) {
      throw new CallgateError("policy_unreadable", `the policy \`${path}\`: ${cause.message}`);
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CallgateError(
      "policy_unreadable",
      `the policy \`${path}\` cannot be read: ${why}; check the path, or pass the policy as an object`,
      { cause },
    );
  }
}

/** Combines all problems of a policy into one error: the message lists them, one a line. */
export function policyError(problems: readonly PolicyProblem[]): CallgateError {
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  const lines = problems.map((problem) => `\n  ${formatProblem(problem)}`).join("");
  return new CallgateError("policy_invalid", `the policy has ${count}:${lines}`, { problems });
}
