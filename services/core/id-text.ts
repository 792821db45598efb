/** The form of an id: of a tenant, conversation, call, agent, turn, step, hold or confirmation. */
import { utf8Length } from "./canonical/utf8.ts";
import { LIMITS } from "./limits.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

const SPACE = 0x20;
const TILDE = 0x7e;
const DELETE = 0x7f;

/** How messages name the form. */
export const ID_FORM = `1 to ${LIMITS.idBytes} bytes of UTF-8 in NFC without control characters`;

/**
 * Whether a text can be an id. It is never normalized here: its sender looks for the id that it
 * wrote, and the partition follows from those bytes.
 */
export function isIdText(text: string): boolean {
  // A unit has at least one byte.
  if (text.length === 0 || text.length > LIMITS.idBytes) return false;
  // Runs several times for each call: over so short a text a loop ends before a pattern has begun.
  for (let at = 0; at < text.length; at += 1) {
    const unit = charCodeAt.call(text, at);
    if (unit > DELETE) return isWideId(text);
    if (unit < SPACE || unit > TILDE) return false;
  }
  return true;
}

/**
 * Controls, line breaks, marks that turn the direction of writing, and half surrogate pairs, which
 * have no UTF-8.
 */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u;

function isWideId(text: string): boolean {
  if (CONTROLS.test(text) || utf8Length(text) > LIMITS.idBytes) return false;
  return text.normalize("NFC") === text;
}
