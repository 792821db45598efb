/** The `examples` of `commands`: calls that the policy must decide as its author expects. */
import type { JsonObject } from "../canonical/json-value.ts";
import { commandArgument } from "./command-argument.ts";
import type { CompileProblem } from "./compile-identity.ts";
import type { CompiledTool } from "./compiled.ts";
import { UNKNOWN_SPENDING } from "./conditions/spending.ts";
import type { CommandsDocument } from "./document.ts";
import { type PathSegment, policyPath } from "./path.ts";

const ENDS = {
  allow: "allowed",
  allowlist: "allowed",
  grant: "allowed",
  hitl: "held",
  deny: "denied",
} as const;

/** Each example is what the policy makes of it, or its author meant something else. */
export function checkExamples(
  document: CommandsDocument,
  path: readonly PathSegment[],
  { variantOf, commandsOf }: Pick<CompiledTool, "variantOf" | "commandsOf">,
  problems: CompileProblem[],
): void {
  for (const [wanted, texts] of Object.entries(document.examples ?? {})) {
    texts.forEach((text, index) => {
      const args = exampleArguments(document, text);
      const outcome = ENDS[variantOf?.(args, UNKNOWN_SPENDING).tier.action ?? "allow"];
      if (outcome === wanted) return;
      const all = commandsOf?.(args, UNKNOWN_SPENDING) ?? [];
      const notes = all.filter(({ tier }) => ENDS[tier.action] === outcome);
      const by = notes.map(
        ({ text: part, rule, why }) => `\`${part}\` by ${rule}${why === null ? "" : ` (${why})`}`,
      );
      const message = `\`${text}\` is ${outcome}, not ${wanted}: ${by.join(", ")}`;
      problems.push({ path: policyPath([...path, "examples", wanted, index]), message });
    });
  }
}

/** Of HTTP, a method and a URL: `POST https://api.example.com/orders`. */
function exampleArguments(document: CommandsDocument, text: string): JsonObject {
  const argument = commandArgument(document);
  if (document.language !== "http") return { [argument]: text };
  const [method = "", url = ""] = text.split(/\s+/);
  return { url, [argument]: method };
}
