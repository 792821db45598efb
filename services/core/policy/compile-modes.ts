/** The mode of each reason code: preset, then what the policy's `checks` say, then the tool's. */
import { ALWAYS_ENFORCED, type Mode, REASON_CODES, type ReasonCode } from "../reasons.ts";
import type { CheckModes, PolicyDocument, PolicyPreset } from "./document.ts";

export type Modes = Readonly<Record<ReasonCode, Mode>>;

/** Codes of `balanced` that only advise: a new call is never harmless to refuse. */
const ADVISORY: ReadonlySet<ReasonCode> = new Set([
  "near_duplicate",
  "loop_no_progress",
  "loop_rotation",
  "failure_run",
]);

const DUPLICATE_CODES: readonly ReasonCode[] = [
  "duplicate_call",
  "duplicate_in_flight",
  "outcome_unknown",
  "loop_no_progress",
];

function presetMode(preset: PolicyPreset, code: ReasonCode): Mode {
  if (ALWAYS_ENFORCED.has(code)) return "enforce";
  if (preset === "observe") return "shadow";
  return preset === "balanced" && ADVISORY.has(code) ? "warn" : "enforce";
}

export function policyModes(document: PolicyDocument): Modes {
  const preset = document.preset ?? "balanced";
  const modes = {} as Record<ReasonCode, Mode>;
  for (const code of REASON_CODES) modes[code] = presetMode(preset, code);
  if (document.tool_deduplication?.enabled === false) {
    for (const code of DUPLICATE_CODES) modes[code] = "off";
  }
  return withChecks(modes, document.checks);
}

export function withChecks(modes: Modes, checks: CheckModes | undefined): Modes {
  return checks === undefined ? modes : { ...modes, ...(checks as Partial<Modes>) };
}

/** `mode: shadow`: nothing that a policy can switch is applied, everything is recorded. */
export function inShadow(modes: Modes): Modes {
  const shadowed = { ...modes } as Record<ReasonCode, Mode>;
  for (const code of REASON_CODES) {
    if (!ALWAYS_ENFORCED.has(code) && shadowed[code] !== "off") shadowed[code] = "shadow";
  }
  return shadowed;
}
