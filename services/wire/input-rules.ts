/** The rules of a proposal's envelope beside its types: ids, lengths, money. */
import { cutText } from "../core/cut-text.ts";
import type { Money } from "../core/inputs.ts";
import { LIMITS } from "../core/limits.ts";
import { EXACT_MAX } from "./avro-types.ts";

/** Kept as a function for loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

const SPACE = 0x20;
const TILDE = 0x7e;

/**
 * Runs several times for each call: over so short a text a loop ends before a pattern has begun.
 */
function isPrintable(text: string, most: number): boolean {
  if (text.length === 0 || text.length > most) return false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = charCodeAt.call(text, at);
    if (unit < SPACE || unit > TILDE) return false;
  }
  return true;
}

const CURRENCY = /^[A-Z]{3}$/;

export type ConversationName = { readonly tenantId: string; readonly conversationId: string };

/** Why these cannot name a conversation; undefined: they can. */
export function conversationProblem(name: ConversationName): string | undefined {
  const { tenantId } = name;
  const isText = typeof tenantId === "string";
  if (!isText || !isPrintable(tenantId, LIMITS.idLength) || tenantId.includes("/")) {
    return `\`tenantId\` must be 1 to ${LIMITS.idLength} printable ASCII characters without \`/\``;
  }
  return idProblem("conversationId", name.conversationId);
}

/** Why a text cannot be an id; undefined: it can. */
export function idProblem(field: string, text: string): string | undefined {
  // Callers without types may pass anything.
  if (typeof text === "string" && isPrintable(text, LIMITS.idLength)) return undefined;
  return `\`${field}\` must be 1 to ${LIMITS.idLength} printable ASCII characters`;
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
