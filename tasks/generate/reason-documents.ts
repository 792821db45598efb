/** `schemas/reasons.json` and `docs/reason-codes.md`: the table of reasons for other languages and for people. */
import type { ReasonGroup } from "../../services/core/reasons/reason-row.ts";
import {
  isAlwaysEnforced,
  REASON_CODES,
  REASONS,
  type ReasonCode,
} from "../../services/core/reasons/reasons.ts";

export function reasonsJson(): string {
  const reasons = REASON_CODES.map((code) => {
    const { check, group, isStrike, isRetryable, modelText, cause, remedy } = REASONS[code];
    return {
      code,
      check,
      group,
      alwaysEnforced: isAlwaysEnforced(code),
      striking: isStrike === true,
      retryable: isRetryable === true,
      model: modelText,
      cause,
      remedy,
    };
  });
  return `${JSON.stringify({ version: 1, reasons }, null, 2)}\n`;
}

const TITLES: Readonly<Record<ReasonGroup, string>> = {
  input: "The call cannot be judged as it is",
  permission: "The call is not permitted",
  stop: "The conversation is stopped",
  budget: "A budget is used up",
  repeat: "The call repeats an earlier one",
  effect: "An effect would happen twice",
  rate: "The call comes too soon",
  gate: "The gate or the platform failed",
};

const HEAD = `# Reason codes

A refused or held call carries one reason code. Look the code up here: what it means, what causes it,
and what to do. The list is closed; codes never change meaning. \`schemas/reasons.json\` is the same
list for programs. Both are written by \`npm run schemas\` from \`services/core/reasons/\`.

The mode is that of the preset \`balanced\`: \`enforce\` refuses, \`warn\` lets the call run and tells the
model. \`strict\` enforces all of them, \`observe\` only records. \`always\` cannot be switched; the others
can, in \`checks\` of the policy or of a tool. A *strike* moves the conversation up the ladder. A
*retryable* call may be proposed again, unchanged, after a wait.
`;

export function reasonCodesPage(): string {
  const groups = Object.keys(TITLES) as ReasonGroup[];
  return [HEAD, ...groups.map(groupSection)].join("\n");
}

function groupSection(group: ReasonGroup): string {
  const codes = REASON_CODES.filter((code) => REASONS[code].group === group);
  return [`## ${TITLES[group]}\n`, ...codes.map(reasonSection)].join("\n");
}

function reasonSection(code: ReasonCode): string {
  const { check, mode, isStrike, isRetryable, modelText, cause, remedy } = REASONS[code];
  const facts = [
    check === "gate" ? "from the gate" : `check \`${check}\``,
    `mode \`${mode}\``,
    ...(isStrike === true ? ["strike"] : []),
    ...(isRetryable === true ? ["retryable"] : []),
  ];
  return [
    `### \`${code}\`\n`,
    `${facts.join(", ")}\n`,
    `- **The model reads:** ${modelText}`,
    `- **Cause:** ${cause}`,
    `- **What to do:** ${remedy}`,
    "",
  ].join("\n");
}
