/** What a proposal's envelope must be beside its types: ids, lengths, money. */
import { cutText } from "../../core/cut-text.ts";
import type { Money } from "../../core/inputs.ts";
import { LIMITS } from "../../core/limits.ts";
import { EXACT_MAX } from "./avro-types.ts";

const ID = new RegExp(`^[\\x20-\\x7e]{1,${LIMITS.idLength}}$`);
const TENANT = new RegExp(`^[\\x20-\\x2e\\x30-\\x7e]{1,${LIMITS.idLength}}$`);
const TOOL = new RegExp(`^[\\x20-\\x7e]{1,${LIMITS.toolNameLength}}$`);
const CURRENCY = /^[A-Z]{3}$/;
const SHOWN_CHARACTERS = 64;

export type ConversationName = { readonly tenantId: string; readonly conversationId: string };

/** Why these cannot name a conversation, or undefined. */
export function conversationProblem(name: ConversationName): string | undefined {
  if (typeof name.tenantId !== "string" || !TENANT.test(name.tenantId)) {
    return `\`tenantId\` must be 1 to ${LIMITS.idLength} printable ASCII characters without \`/\``;
  }
  return idProblem("conversationId", name.conversationId);
}

/** Why a text that must be there cannot be an id, or undefined. */
export function idProblem(field: string, text: string): string | undefined {
  // Callers without types may hand over anything, and a pattern reads anything as text.
  if (typeof text === "string" && ID.test(text)) return undefined;
  return `\`${field}\` must be 1 to ${LIMITS.idLength} printable ASCII characters`;
}

/** The same, where absence is a value. */
export function optionalIdProblem(field: string, text: string | null): string | undefined {
  return text === null ? undefined : idProblem(field, text);
}

/** Why a text cannot name a tool, or undefined. */
export function toolProblem(tool: string): string | undefined {
  if (typeof tool === "string" && TOOL.test(tool)) return undefined;
  return `\`tool\` must be 1 to ${LIMITS.toolNameLength} printable ASCII characters`;
}

/** A tool name that is none, as it may stand in a refusal. */
export function shownTool(tool: string): string {
  return tool.slice(0, SHOWN_CHARACTERS).replaceAll(/[^\x20-\x7e]/g, "?");
}

/** Why an amount cannot be an estimated cost, or undefined. */
export function costProblem(cost: Money | null): string | undefined {
  if (cost === null) return undefined;
  const { microUnits } = cost;
  if (!Number.isInteger(microUnits) || microUnits < 0 || microUnits > EXACT_MAX) {
    return `\`estimatedCost.microUnits\` must be a whole number from 0 to ${EXACT_MAX}`;
  }
  if (CURRENCY.test(cost.currency)) return undefined;
  return "`estimatedCost.currency` must be three capital letters (ISO 4217)";
}

/** The beginning of what the model said, as far as the gate looks at it. */
export function boundedAssistantText(text: string | null): string | null {
  return text === null ? null : cutText(text, LIMITS.assistantTextLength);
}
