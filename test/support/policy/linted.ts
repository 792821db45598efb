import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import type { Finding } from "../../../services/cli/policy/lint/finding.ts";
import { lintPolicy } from "../../../services/cli/policy/lint.ts";

/** The findings of lint on a valid policy. */
export function lint(text: string): readonly Finding[] {
  const loaded = loadPolicy([{ name: "p.yaml", text }]);
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));
  return lintPolicy(loaded.document, loaded.source);
}
