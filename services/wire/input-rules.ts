/** The rules of a proposal's envelope beside its types: ids, lengths, money. */
import { cutText } from "../core/cut-text.ts";
import { ID_FORM, isIdText } from "../core/id-text.ts";
import type { Money } from "../core/inputs.ts";
import { LIMITS } from "../core/limits.ts";
import { EXACT_MAX } from "./avro-types.ts";

const CURRENCY = /^[A-Z]{3}$/;

export type ConversationName = { readonly tenantId: string; readonly conversationId: string };

/** Why these cannot name a conversation; undefined: they can. */
export function conversationProblem(name: ConversationName): string | undefined {
  const { tenantId } = name;
  const isText = typeof tenantId === "string";
  if (!isText || !isIdText(tenantId) || tenantId.includes("/")) {
    return `\`tenantId\` must be ${ID_FORM} and without \`/\``;
  }
  return idProblem("conversationId", name.conversationId);
}

/** Why a text cannot be an id; undefined: it can. */
export function idProblem(field: string, text: string): string | undefined {
  // Callers without types may pass anything.
  if (typeof text === "string" && isIdText(text)) return undefined;
  return `\`${field}\` must be ${ID_FORM}`;
}

/** Like `idProblem`, for a text that may be absent. */
export function optionalIdProblem(field: string, text: string | null): string | undefined {
  return text === null ? undefined : idProblem(field, text);
}

/**
 * Why an amount cannot be a cost; undefined: it can. @param field the sender's name of the field.
 */
export function costProblem(
  cost: Money | null,
  field: "estimatedCost" | "cost" = "estimatedCost",
): string | undefined {
  if (cost === null) return undefined;
  const { microUnits } = cost;
  if (!Number.isInteger(microUnits) || microUnits < 0 || microUnits > EXACT_MAX) {
    return `\`${field}.microUnits\` must be a whole number from 0 to ${EXACT_MAX}`;
  }
  if (CURRENCY.test(cost.currency)) return undefined;
  return `\`${field}.currency\` must be three capital letters (ISO 4217)`;
}

/** The beginning of the model's text, as far as the gate looks at it. */
export function boundedAssistantText(text: string | null): string | null {
  return text === null ? null : cutText(text, LIMITS.assistantTextLength);
}
