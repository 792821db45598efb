/** What counts as a model's statement that it will try something else. */
import type { PatternCapabilities } from "../capabilities.ts";
import type { CompileProblem } from "./compile-identity.ts";
import type { CompiledPolicy } from "./compiled.ts";
import type { PolicyDocument } from "./document.ts";
import { policyPath } from "./path.ts";

/** Texts that acknowledge, and texts that do not, where the policy has none of its own. */
const PATTERNS: readonly string[] = [
  "instead.*I will",
  "different approach",
  "let me try",
  "I'll (check|verify|diagnose)",
  "the issue is",
];
const UNLESS: readonly string[] = [
  "\\bagain\\b",
  "\\bretry",
  "\\bsame (call|command|arguments)\\b",
];

type Test = (text: string) => boolean;

export function compileAcknowledgement(
  document: PolicyDocument,
  capabilities: PatternCapabilities,
  problems: CompileProblem[],
): Pick<CompiledPolicy, "acknowledgement" | "acknowledges"> {
  const written = document.acknowledgement;
  const compile = (key: "patterns" | "unless", preset: readonly string[]): Test[] =>
    (written?.[key] ?? preset).flatMap((pattern, at) => {
      const compiled = capabilities.compilePattern(pattern, { ignoreCase: true });
      if (compiled.ok) return [compiled.test];
      problems.push({ path: policyPath(["acknowledgement", key, at]), message: compiled.problem });
      return [];
    });
  const patterns = compile("patterns", PATTERNS);
  const unless = compile("unless", UNLESS);
  return {
    acknowledgement: written?.mode ?? presetMode(document.preset),
    acknowledges: (text) =>
      patterns.some((test) => test(text)) && !unless.some((test) => test(text)),
  };
}

function presetMode(preset: PolicyDocument["preset"]): CompiledPolicy["acknowledgement"] {
  if (preset === "observe") return "off";
  return preset === "strict" ? "explicit" : "implicit";
}
