/**
 * Every digest the gate makes. The one file of the core that imports from the platform.
 *
 * H1 What is hashed is unambiguous: a tag that no other use has, a line feed, and the parts as JSON, in which a string
 *    cannot end early; one part may stand last as it is. So no two lists of parts share their bytes.
 * H2 Strings are hashed as UTF-8 after JSON has escaped lone surrogates, which an encoder would make all one.
 */

import { createHash, createHmac, hash } from "node:crypto";

/** What names a proposal: the same name and the same arguments are the same decision. */
export type CallName = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly turn: string | null;
  readonly step: string | null;
  readonly callId: string;
};

/** What one meant execution of an action is known by downstream. */
export type OccurrenceName = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly tool: string;
  /** Digest or text of the fields that are the identity of the call. */
  readonly identity: string;
  /** The decision that opened the occurrence. */
  readonly decisionId: string;
};

/** Hex digits of the ids that are shortened to 128 bits. */
const ID_DIGITS = 32;

/** SHA-256 of a tag and parts, 64 hex digits. The tag is a constant of the caller without line feeds. */
export function sha256Hex(tag: string, ...parts: readonly (string | Uint8Array)[]): string {
  const strings = parts.filter((part) => typeof part === "string");
  if (strings.length === parts.length) return hash("sha256", `${tag}\n${array(strings)}`, "hex");
  // Bytes stand in the array as their number, and follow it in order.
  const frame = parts.map((part) => (typeof part === "string" ? quoted(part) : part.length));
  const digest = createHash("sha256").update(`${tag}\n[${frame.join(",")}]\n`, "utf8");
  for (const part of parts) if (typeof part !== "string") digest.update(part);
  return digest.digest("hex");
}

/** The action key: SHA-256 of a tool and the canonical text of its arguments, 64 hex digits. */
export function actionDigest(tool: string, canonicalText: string): string {
  return hash("sha256", `callgate.action/1\n${quoted(tool)}\n${canonicalText}`, "hex");
}

/** Stands for the action key where the arguments have no canonical form; never equal to one. */
export function rawDigest(tool: string, input: Uint8Array | string): string {
  return sha256Hex("callgate.raw/1", tool, input);
}

/** First 128 bits, hex, of SHA-256 of name, tool and digest of the arguments; null turn and step count as values. */
export function decisionIdOf(name: CallName, tool: string, argumentsDigest: string): string {
  const { tenantId, conversationId, turn, step, callId } = name;
  const parts = array([tenantId, conversationId, turn, step, callId, tool]);
  const frame = `callgate.decision/1\n${parts}\n${argumentsDigest}`;
  return hash("sha256", frame, "hex").slice(0, ID_DIGITS);
}

/** Id of the n-th hold of a decision under one tier rule, 128 bits hex. */
export function approvalIdOf(decisionId: string, tierRuleDigest: string, nthHold: number): string {
  const parts = array([decisionId, tierRuleDigest, String(nthHold)]);
  return hash("sha256", `callgate.approval/1\n${parts}`, "hex").slice(0, ID_DIGITS);
}

/** HMAC-SHA-256 that makes an occurrence known downstream and cannot be guessed, 43 characters base64url. */
export function idempotencyKey(secret: Uint8Array | string, name: OccurrenceName): string {
  const { tenantId, conversationId, tool, identity, decisionId } = name;
  const parts = array([tenantId, conversationId, tool, identity, decisionId]);
  return createHmac("sha256", secret)
    .update(`callgate.key/1\n${parts}`, "utf8")
    .digest("base64url");
}

/** Link of a hash chain: SHA-256 of the link before it and of a record's bytes, 64 hex digits. */
export function chainHash(previousHex: string, record: Uint8Array | string): string {
  return sha256Hex("callgate.chain/1", previousHex, record);
}

/** A loop, not `map` and `join`: this runs for each proposal. */
function array(parts: readonly (string | null)[]): string {
  let text = "[";
  for (let at = 0; at < parts.length; at += 1) {
    text +=
      at === 0 ? quoted(parts[at] as string | null) : `,${quoted(parts[at] as string | null)}`;
  }
  return `${text}]`;
}

function quoted(part: string | null): string {
  if (part === null) return "null";
  return isPlain(part) ? `"${part}"` : JSON.stringify(part);
}

/** Whether JSON prints the text as it is. Most parts are short: a loop tells sooner than a pattern. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}
