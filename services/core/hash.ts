/**
 * Every digest and sealed text the gate makes. The one file of the core that imports from the platform.
 *
 * HASH-1 What is hashed is unambiguous: a tag that no other use has, a line feed, and the parts as JSON, in which a string
 *    cannot end early; one part may stand last as it is. So no two lists of parts share their bytes.
 * HASH-2 Strings are hashed as UTF-8 after JSON has escaped lone surrogates, which an encoder would make all one.
 */

import { createCipheriv, createDecipheriv, createHash, createHmac, hash } from "node:crypto";

/** The name of a proposal: the same name with the same arguments gives the same decision. */
export type CallName = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly turn: string | null;
  readonly step: string | null;
  readonly callId: string;
};

/** What identifies one intended execution of an action downstream. */
export type ExecutionName = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly tool: string;
  /** Digest or text of the fields that are the identity of the call. */
  readonly identity: string;
  /** The decision that opened the execution. */
  readonly decisionId: string;
};

/** Hex digits of the ids that are shortened to 128 bits. */
const ID_DIGITS = 32;

/** SHA-256 of a tag and parts, 64 hex digits. The tag is a constant of the caller, ASCII without line feeds. */
export function sha256Hex(tag: string, ...parts: readonly (string | Uint8Array)[]): string {
  if (parts.every(isText)) return jsonDigest(tag, parts);
  const frame = parts.map((part) => (isText(part) ? part : part.length));
  const digest = createHash("sha256").update(`${tag}\n${JSON.stringify(frame)}\n`, "utf8");
  for (const part of parts) if (!isText(part)) digest.update(part);
  return digest.digest("hex");
}

/** SHA-256 of a tag and the JSON of some values, 64 hex digits: `sha256Hex` of parts that are no texts. */
export function jsonDigest(tag: string, values: readonly unknown[]): string {
  return hash("sha256", `${tag}\n${JSON.stringify(values)}`, "hex");
}

function isText(part: string | Uint8Array): part is string {
  return typeof part === "string";
}

/** The action key: SHA-256 of a tool and the canonical text of its arguments, 64 hex digits. */
export function actionDigest(tool: string, canonicalText: string): string {
  return hash("sha256", `callgate.action/1\n${JSON.stringify(tool)}\n${canonicalText}`, "hex");
}

/**
 * Takes the place of the action key where the arguments have no canonical form; it never equals
 * one.
 */
export function rawDigest(tool: string, input: Uint8Array | string): string {
  return sha256Hex("callgate.raw/1", tool, input);
}

/** First 128 bits, hex, of SHA-256 of name, tool and digest of the arguments; null turn and step count as values. */
export function decisionIdOf(name: CallName, tool: string, argumentsDigest: string): string {
  const { tenantId, conversationId, turn, step, callId } = name;
  const parts = JSON.stringify([tenantId, conversationId, turn, step, callId, tool]);
  return shortId(`callgate.decision/1\n${parts}\n${argumentsDigest}`);
}

/** Id of the n-th hold of a decision under one tier rule, 128 bits hex. */
export function approvalIdOf(decisionId: string, tierRuleDigest: string, nthHold: number): string {
  const parts = JSON.stringify([decisionId, tierRuleDigest, String(nthHold)]);
  return shortId(`callgate.approval/1\n${parts}`);
}

/** In two halves: one slice would hold all digits in memory as long as the id, in every state that has it. */
function shortId(text: string): string {
  const digits = hash("sha256", text, "hex");
  return [digits.slice(0, ID_DIGITS / 2), digits.slice(ID_DIGITS / 2, ID_DIGITS)].join("");
}

/**
 * HMAC-SHA-256 that identifies an execution downstream and cannot be guessed, 43 characters
 * base64url.
 */
export function idempotencyKey(secret: Uint8Array | string, name: ExecutionName): string {
  const { tenantId, conversationId, tool, identity, decisionId } = name;
  const parts = JSON.stringify([tenantId, conversationId, tool, identity, decisionId]);
  return createHmac("sha256", secret)
    .update(`callgate.key/1\n${parts}`, "utf8")
    .digest("base64url");
}

/** HMAC-SHA-256, 32 bytes. */
export function hmac(key: Uint8Array, text: string): Uint8Array {
  return createHmac("sha256", key).update(text, "utf8").digest();
}

const AES = "aes-256-gcm";
const TAG = { authTagLength: 16 } as const;

/** `bound`: the data, beside the key, without which the text cannot be opened. */
type Lock = { readonly key: Uint8Array; readonly nonce: Uint8Array; readonly bound: Uint8Array };

/** AES-256-GCM in hex, with the tag of 16 bytes at the end. */
export function encrypted({ key, nonce, bound }: Lock, text: string): string {
  const cipher = createCipheriv(AES, key, nonce, TAG).setAAD(bound);
  const body = cipher.update(text, "utf8", "hex") + cipher.final("hex");
  return body + cipher.getAuthTag().toString("hex");
}

/** The decrypted text; null where key, nonce, bound data, bytes or tag do not match. */
export function decrypted(lock: Lock, body: string, tag: Uint8Array): string | null {
  try {
    const opening = createDecipheriv(AES, lock.key, lock.nonce, TAG).setAAD(lock.bound);
    return opening.setAuthTag(tag).update(body, "hex", "utf8") + opening.final("utf8");
  } catch {
    return null;
  }
}

/** Link of a hash chain: SHA-256 of the previous link and of a record's bytes, 64 hex digits. */
export function chainHash(previousHex: string, record: Uint8Array | string): string {
  return sha256Hex("callgate.chain/1", previousHex, record);
}
