import { canonicalText } from "../../core/canonical/canonical-text.ts";
import type { JsonValue } from "../../core/canonical/json-value.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { PolicyDocument } from "../../core/policy/document.ts";
import {
  locateIn,
  OBJECT_NAME,
  type PolicyProblem,
  type Positions,
} from "../../core/policy/problem.ts";
import type { PolicySource } from "../../core/policy/source.ts";
import { describeIssues } from "./describe-issues.ts";
import { findContradictions } from "./find-contradictions.ts";
import { foldBlocks } from "./fold-blocks.ts";
import { readObject } from "./read-object.ts";
import { type PolicyFile, type ReadPolicy, readYaml } from "./read-yaml.ts";
import { policyDocument } from "./vocabulary/blocks.ts";

export type LoadedPolicy = {
  readonly ok: true;
  readonly document: PolicyDocument;
  /**
   * The revision of the policy: `sha256:` and the hex digest of the document's canonical form.
   */
  readonly digest: string;
  readonly source: PolicySource;
  /** Problems of a valid policy that an operator should see at start. */
  readonly warnings: readonly PolicyProblem[];
};

export type LoadResult =
  | LoadedPolicy
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

/**
 * Reads a policy from files, which are merged, or from an object. A policy with any problem is not
 * loaded, and all problems are listed. Problems that only compiling finds (in a schema, a pattern,
 * a template) come from the core with a path, and `source.locate` finds their line.
 */
export function loadPolicy(input: readonly PolicyFile[] | object): LoadResult {
  const read: ReadPolicy = { blocks: [], positions: new Map(), later: new Map(), problems: [] };
  if (Array.isArray(input)) {
    for (const file of input as readonly PolicyFile[]) readYaml(file, read);
    if (input.length === 0) read.problems.push(NO_FILES);
  } else readObject(input, read);

  const { positions, problems } = read;
  const raw = foldBlocks(read);
  const parsed = policyDocument.safeParse(raw);
  const unreadable = new Set(problems.map(({ path }) => path));
  if (!parsed.success) {
    const schemaProblems = describeIssues(parsed.error.issues, raw, positions);
    problems.push(...schemaProblems.filter(({ path }) => !unreadable.has(path)));
  }
  problems.push(...findContradictions(raw, positions));
  if (!parsed.success || problems.length > 0) {
    return { ok: false, problems: sortProblems(problems) };
  }

  const document: PolicyDocument = parsed.data;
  return {
    ok: true,
    document,
    digest: `sha256:${sha256Hex("callgate.policy/1", canonicalText(document as JsonValue))}`,
    source: { locate: (path) => locateIn(positions, path) },
    warnings: warningsOf(document, positions),
  };
}

const NO_FILES: PolicyProblem = {
  file: OBJECT_NAME,
  line: 0,
  column: 0,
  path: "",
  message: "the list of policy files is empty",
  remedy: "add a policy file",
};

/** Sorts problems by file, in the given order, and then by line. */
function sortProblems(problems: readonly PolicyProblem[]): readonly PolicyProblem[] {
  const files = [...new Set(problems.map(({ file }) => file))];
  return [...problems].sort(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}

function warningsOf(document: PolicyDocument, positions: Positions): readonly PolicyProblem[] {
  const tools = Object.keys(document.tool_schemas ?? {});
  if (tools.length > 0 || (document.authorization?.tiers ?? []).length > 0) return [];
  const top = locateIn(positions, "") ?? { file: OBJECT_NAME, line: 0, column: 0, path: "" };
  return [
    {
      ...top,
      message: "names neither tools nor tiers, so every tool is known and counts as a write",
      remedy: "declare tools under `tool_schemas`, or tiers under `authorization`",
    },
  ];
}
