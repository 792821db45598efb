import type { PolicyDocument, ToolDocument } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import { TENANT_SCOPE_REMEDY } from "../../../gate/start-checks.ts";
import type { Report } from "./finding.ts";

/** With `--for kafka`: effects that no gate on Kafka can make once in all conversations of a tenant. */
export function lintForKafka(document: PolicyDocument, report: Report): void {
  for (const [tool, entry] of Object.entries(document.tool_schemas ?? {})) {
    for (const { at, keys } of listKeys(entry, ["tool_schemas", tool])) {
      (keys.effects ?? []).forEach(({ scope }, index) => {
        if (scope !== "tenant") return;
        report(
          "error",
          "tenant-scope-on-kafka",
          [...at, "effects", index, "scope"],
          "a gate on Kafka does not start with `scope: tenant`: it sees the conversations of its partitions alone",
          TENANT_SCOPE_REMEDY,
        );
      });
    }
  }
}

type Keys = Pick<ToolDocument, "effects">;

interface KeysAt {
  readonly at: readonly PathSegment[];
  readonly keys: Keys;
}

/** The keys of the tool, and those that its variants and command rules add. */
function listKeys(entry: ToolDocument, at: readonly PathSegment[]): readonly KeysAt[] {
  const { variants, commands } = entry;
  const rulesOf = (rules: readonly Keys[] | undefined, key: string): readonly KeysAt[] =>
    (rules ?? []).map((keys, index) => ({ at: [...at, key, "rules", index], keys }));
  const otherwise = variants?.otherwise;
  return [
    { at, keys: entry },
    ...rulesOf(variants?.rules, "variants"),
    ...rulesOf(commands?.rules, "commands"),
    ...(otherwise === undefined
      ? []
      : [{ at: [...at, "variants", "otherwise"], keys: otherwise as Keys }]),
  ];
}
