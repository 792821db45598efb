/**
 * The mode of each reason code: the preset decides, then the policy's `checks`, then the tool's.
 */
import {
  isAlwaysEnforced,
  type Mode,
  REASON_CODES,
  REASONS,
  type ReasonCode,
} from "../reasons/reasons.ts";
import type { CheckModes, PolicyDocument, PolicyPreset } from "./document.ts";

export type Modes = Readonly<Record<ReasonCode, Mode>>;

/** Refusing a new call always costs something: for some reasons `balanced` only warns. */
function presetMode(preset: PolicyPreset, code: ReasonCode): Mode {
  const { mode } = REASONS[code];
  if (mode === "always") return "enforce";
  if (preset === "observe") return "shadow";
  return preset === "balanced" ? mode : "enforce";
}

export function policyModes(document: PolicyDocument): Modes {
  const preset = document.preset ?? "balanced";
  const modes = {} as Record<ReasonCode, Mode>;
  for (const code of REASON_CODES) modes[code] = presetMode(preset, code);
  if (document.tool_deduplication?.enabled === false) {
    for (const code of REASON_CODES) {
      if (REASONS[code].isOffWithDuplicates === true) modes[code] = "off";
    }
  }
  return withChecks(modes, document.checks);
}

export function withChecks(modes: Modes, checks: CheckModes | undefined): Modes {
  return checks === undefined ? modes : { ...modes, ...(checks as Partial<Modes>) };
}

/** `mode: shadow`: the gate applies nothing that a policy can switch, and records everything. */
export function inShadow(modes: Modes): Modes {
  const shadowed = { ...modes } as Record<ReasonCode, Mode>;
  for (const code of REASON_CODES) {
    if (!isAlwaysEnforced(code) && shadowed[code] !== "off") shadowed[code] = "shadow";
  }
  return shadowed;
}
