import type { CallReference } from "./parse-line.ts";

const REMEMBERED = 100_000;

/**
 * Decision ids by the names of their calls, so that a result may refer to its call by the names
 * that it was proposed under.
 */
export class CallNames {
  readonly #decisionIds = new Map<string, string>();

  remember(name: string, decisionId: string): void {
    const oldest = this.#decisionIds.keys().next().value;
    if (this.#decisionIds.size >= REMEMBERED && oldest !== undefined) {
      this.#decisionIds.delete(oldest);
    }
    this.#decisionIds.set(name, decisionId);
  }

  find(of: CallReference): string | undefined {
    return "decisionId" in of ? of.decisionId : this.#decisionIds.get(nameOf(of));
  }
}

/** The same for a proposal and for a result that refers to it. */
export function nameOf(call: Exclude<CallReference, { readonly decisionId: string }>): string {
  const { tenantId, conversationId, turn, step, callId } = call;
  const text = (count: string | number | undefined) => (count === undefined ? null : String(count));
  return JSON.stringify([tenantId ?? "default", conversationId, text(turn), text(step), callId]);
}
