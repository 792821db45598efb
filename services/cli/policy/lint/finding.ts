import type { PolicyDocument } from "../../../core/policy/document.ts";
import { type PathSegment, policyPath } from "../../../core/policy/path.ts";
import type { PolicySource } from "../../../core/policy/source.ts";

/**
 * error: the policy does not do what it says. warning: it probably does not. info: good to know.
 */
type Severity = "error" | "warning" | "info";

/** Something in a valid policy that its author should check. Positions are 0 without a file. */
export type Finding = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly severity: Severity;
  /** Name of the lint rule. */
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
};

export type Report = (
  severity: Severity,
  code: string,
  path: readonly PathSegment[],
  message: string,
  remedy: string,
) => void;

export type LintRule = (document: PolicyDocument, report: Report) => void;

/** A report function that adds findings with the position where the path was written. */
export function reportInto(findings: Finding[], source: PolicySource): Report {
  return (severity, code, segments, message, remedy) => {
    const path = policyPath(segments);
    const at = source.locate(path) ?? { file: "policy", line: 0, column: 0 };
    const { file, line, column } = at;
    findings.push({ file, line, column, path, severity, code, message, remedy });
  };
}
