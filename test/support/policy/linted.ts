import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import type { Finding } from "../../../services/cli/policy/lint/finding.ts";
import { lintPolicy } from "../../../services/cli/policy/lint.ts";

/** All findings of lint on a valid policy. */
export function lintWhole(text: string): readonly Finding[] {
  const loaded = loadPolicy([{ name: "p.yaml", text }]);
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));
  return lintPolicy(loaded.document, loaded.source);
}

/** The same without the one that a policy without `authorization.default` has. */
export function lint(text: string): readonly Finding[] {
  return lintWhole(text).filter(({ code }) => code !== "default-not-written");
}
