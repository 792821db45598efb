/**
 * Every digest and sealed text the gate makes. The one file of the core that imports from the platform.
 *
 * H1 What is hashed is unambiguous: a tag that no other use has, a line feed, and the parts as JSON, in which a string
 *    cannot end early; one part may stand last as it is. So no two lists of parts share their bytes.
 * H2 Strings are hashed as UTF-8 after JSON has escaped lone surrogates, which an encoder would make all one.
 */

import { createCipheriv, createDecipheriv, createHash, createHmac, hash } from "node:crypto";
import { digitsInto, MOST_DIGITS } from "./digits-into.ts";
import { quoted, quotedList } from "./quoted.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

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

/** What SHA-256 takes at once: HMAC fills its key up to it. */
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/**
 * Where what is hashed is put side by side. One call for all of it costs half of an object that takes
 * one piece after the other, and leaves neither that nor the joined text to the garbage collector.
 */
const scratch = new Uint8Array(16_384);
/**
 * Views of its beginning, by their length: one made for each hash would be half of what that leaves
 * behind. Longer ones are rare, and are made when they are needed.
 */
const VIEW_BYTES_MAX = 2_048;
const views: (Uint8Array | undefined)[] = new Array(VIEW_BYTES_MAX + 1).fill(undefined);
/** Room that is always left for what stands between parts. */
const SPARE_BYTES = 8;
const ASCII_MAX = 0x7f;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
const DIGIT_ZERO = 0x30;

/** What has been put into the scratch. */
function laid(end: number): Uint8Array {
  if (end > VIEW_BYTES_MAX) return scratch.subarray(0, end);
  let view = views[end];
  if (view === undefined) {
    view = scratch.subarray(0, end);
    views[end] = view;
  }
  return view;
}

/** A text in the making: lines, each of words that a space stands between. Numbers and the like as JSON prints them. */
export type Lines = readonly (readonly (string | number | boolean | null)[])[];

/**
 * What `sha256Hex` gives of the tag, the texts and the text of the lines, which is never made: built
 * of dozens of counters, it would be most of what a record leaves to the garbage collector.
 */
export function linesHash(tag: string, texts: readonly string[], lines: Lines): string {
  let end = tagInto(tag);
  for (let at = 0; at < texts.length && end >= 0; at += 1) {
    end = quotedInto(end, texts[at] as string);
    if (end >= 0) scratch[end++] = COMMA;
  }
  if (end >= 0) end = linesInto(end, lines);
  if (end < 0) return sha256Hex(tag, ...texts, linesText(lines));
  end = asciiInto(end, "]");
  return end < 0 ? sha256Hex(tag, ...texts, linesText(lines)) : hash("sha256", laid(end), "hex");
}

/** Puts what a list of parts begins with at the beginning of the scratch. The tag is ASCII. */
function tagInto(tag: string): number {
  let end = asciiInto(0, tag);
  scratch[end++] = LINE_FEED;
  scratch[end++] = OPEN_LIST;
  return end;
}

/** Puts a list as JSON prints it into the scratch; -1 as the others. */
function listInto(start: number, parts: readonly (string | null)[]): number {
  let end = asciiInto(start, "[");
  for (let at = 0; at < parts.length && end >= 0; at += 1) {
    if (at > 0) scratch[end++] = COMMA;
    const part = parts[at] as string | null;
    end = part === null ? asciiInto(end, "null") : quotedInto(end, part);
  }
  return end < 0 ? -1 : asciiInto(end, "]");
}

function linesText(lines: Lines): string {
  return lines.map((words) => words.map(String).join(" ")).join("\n");
}

function linesInto(start: number, lines: Lines): number {
  let end = start;
  scratch[end++] = QUOTE;
  for (let line = 0; line < lines.length; line += 1) {
    if (line > 0) {
      scratch[end++] = BACKSLASH;
      scratch[end++] = LETTER_N;
    }
    end = wordsInto(end, lines[line] as Lines[number]);
    if (end < 0) return -1;
  }
  scratch[end++] = QUOTE;
  return end;
}

function wordsInto(start: number, words: Lines[number]): number {
  let end = start;
  for (let at = 0; at < words.length; at += 1) {
    if (at > 0) scratch[end++] = SPACE;
    const word = words[at] as Lines[number][number];
    if (typeof word === "number" && word >= 0 && word < 10 && (word | 0) === word) {
      // Most counters are. Whether there was room the end of the list tells, as of all that stands between parts.
      scratch[end++] = DIGIT_ZERO + word;
      continue;
    }
    end =
      typeof word === "number" && Number.isSafeInteger(word) && word >= 0
        ? numberInto(end, word)
        : escapedInto(end, String(word));
    if (end < 0) return -1;
  }
  return end;
}

/** Puts the digits of a safe integer from 0 on into the scratch; -1: no room. */
function numberInto(start: number, value: number): number {
  return start + MOST_DIGITS + SPARE_BYTES > scratch.length
    ? -1
    : digitsInto(scratch, start, value);
}

/** SHA-256 of a tag and parts, 64 hex digits. The tag is a constant of the caller, ASCII without line feeds. */
export function sha256Hex(tag: string, ...parts: readonly (string | Uint8Array)[]): string {
  const end = laidOut(tag, parts);
  return end < 0 ? hashedInTurn(tag, parts) : hash("sha256", laid(end), "hex");
}

/** Where what is hashed ends in the scratch; -1 where it has more than ASCII, or no room there. */
function laidOut(tag: string, parts: readonly (string | Uint8Array)[]): number {
  let end = tagInto(tag);
  let hasBytes = false;
  for (let at = 0; at < parts.length && end >= 0; at += 1) {
    const part = parts[at] as string | Uint8Array;
    if (at > 0) scratch[end++] = COMMA;
    if (typeof part === "string") {
      end = quotedInto(end, part);
    } else {
      end = asciiInto(end, String(part.length));
      hasBytes = true;
    }
  }
  if (end < 0) return -1;
  end = asciiInto(end, hasBytes ? "]\n" : "]");
  return hasBytes ? bytesInto(end, parts) : end;
}

/** The bytes among the parts, in order. */
function bytesInto(start: number, parts: readonly (string | Uint8Array)[]): number {
  let end = start;
  for (const part of parts) {
    if (typeof part === "string") continue;
    if (end < 0 || end + part.length > scratch.length) return -1;
    scratch.set(part, end);
    end += part.length;
  }
  return end;
}

/** Puts ASCII into the scratch and gives its end; -1 where the text has more, or there is no room. */
function asciiInto(start: number, text: string): number {
  const end = start + text.length;
  if (end + SPARE_BYTES > scratch.length) return -1;
  for (let at = 0; at < text.length; at += 1) {
    const unit = charCodeAt.call(text, at);
    if (unit > ASCII_MAX) return -1;
    scratch[start + at] = unit;
  }
  return end;
}

/** The same for the text as JSON prints it; -1 also where it has a control character but line feeds. */
function quotedInto(start: number, text: string): number {
  scratch[start] = QUOTE;
  const end = escapedInto(start + 1, text);
  if (end < 0) return -1;
  scratch[end] = QUOTE;
  return end + 1;
}

/** 1 for what does not stand in a JSON text as it is, or is beyond ASCII; by code unit. */
const IS_SPECIAL = Uint8Array.from({ length: 65_536 }, (_, unit) =>
  unit < SPACE || unit > ASCII_MAX || unit === QUOTE || unit === BACKSLASH ? 1 : 0,
);

/** The same without the quotes. */
function escapedInto(start: number, text: string): number {
  const { length } = text;
  if (start + 2 * length + SPARE_BYTES > scratch.length) return -1;
  for (let at = 0; at < length; at += 1) {
    const unit = charCodeAt.call(text, at);
    // Most texts have none, and one look at a table costs less than four comparisons.
    if (IS_SPECIAL[unit] !== 0) return specialInto(start + at, text, at);
    scratch[start + at] = unit;
  }
  return start + length;
}

/** The rest of the text from the first unit on that is special. */
function specialInto(start: number, text: string, from: number): number {
  let end = start;
  for (let at = from; at < text.length; at += 1) {
    let unit = charCodeAt.call(text, at);
    if (unit === QUOTE || unit === BACKSLASH || unit === LINE_FEED) {
      scratch[end++] = BACKSLASH;
      if (unit === LINE_FEED) unit = LETTER_N;
    } else if (IS_SPECIAL[unit] !== 0) {
      return -1;
    }
    scratch[end++] = unit;
  }
  return end;
}

/** The same hash by an object that takes one piece after the other. */
function hashedInTurn(tag: string, parts: readonly (string | Uint8Array)[]): string {
  const frame = parts.map((part) => (typeof part === "string" ? quoted(part) : part.length));
  const bytes = parts.filter((part) => typeof part !== "string");
  const digest = createHash("sha256").update(`${tag}\n[${frame.join(",")}]`, "utf8");
  if (bytes.length > 0) digest.update("\n", "utf8");
  for (const part of bytes) digest.update(part);
  return digest.digest("hex");
}

/** The action key: SHA-256 of a tool and the canonical text of its arguments, 64 hex digits. */
export function actionDigest(tool: string, canonicalText: string): string {
  let end = quotedInto(asciiInto(0, "callgate.action/1\n"), tool);
  if (end >= 0) scratch[end++] = LINE_FEED;
  if (end >= 0) end = asciiInto(end, canonicalText);
  if (end >= 0) return hash("sha256", laid(end), "hex");
  return hash("sha256", `callgate.action/1\n${quoted(tool)}\n${canonicalText}`, "hex");
}

/** Stands for the action key where the arguments have no canonical form; never equal to one. */
export function rawDigest(tool: string, input: Uint8Array | string): string {
  return sha256Hex("callgate.raw/1", tool, input);
}

/** First 128 bits, hex, of SHA-256 of name, tool and digest of the arguments; null turn and step count as values. */
export function decisionIdOf(name: CallName, tool: string, argumentsDigest: string): string {
  const { tenantId, conversationId, turn, step, callId } = name;
  const named = [tenantId, conversationId, turn, step, callId, tool];
  let end = listInto(asciiInto(0, "callgate.decision/1\n"), named);
  if (end >= 0) scratch[end++] = LINE_FEED;
  if (end >= 0) end = asciiInto(end, argumentsDigest);
  if (end >= 0) return shortId(hash("sha256", laid(end), "hex"));
  return shortId(
    hash("sha256", `callgate.decision/1\n${quotedList(named)}\n${argumentsDigest}`, "hex"),
  );
}

const idUnits: number[] = new Array(ID_DIGITS).fill(0);

/** Letter by letter: a slice would keep all of the digest in memory for as long as the id is. */
function shortId(digest: string): string {
  for (let at = 0; at < ID_DIGITS; at += 1) idUnits[at] = charCodeAt.call(digest, at);
  return String.fromCharCode.apply(null, idUnits);
}

/** Id of the n-th hold of a decision under one tier rule, 128 bits hex. */
export function approvalIdOf(decisionId: string, tierRuleDigest: string, nthHold: number): string {
  const parts = quotedList([decisionId, tierRuleDigest, String(nthHold)]);
  return hash("sha256", `callgate.approval/1\n${parts}`, "hex").slice(0, ID_DIGITS);
}

/** HMAC-SHA-256 that makes an occurrence known downstream and cannot be guessed, 43 characters base64url. */
export function idempotencyKey(secret: Uint8Array | string, name: OccurrenceName): string {
  const { tenantId, conversationId, tool, identity, decisionId } = name;
  const parts = [tenantId, conversationId, tool, identity, decisionId];
  return (
    hmacAtOnce(secret, "callgate.key/1\n", parts) ??
    createHmac("sha256", secret)
      .update(`callgate.key/1\n${quotedList(parts)}`, "utf8")
      .digest("base64url")
  );
}

type Pads = { readonly inner: Uint8Array; readonly outer: Uint8Array };

/** Of the secret used last: there is one, until it is renewed. */
let lastPads: { readonly secret: Uint8Array; readonly pads: Pads } | undefined;

/**
 * HMAC as RFC 2104 says, of two hashes: of the outer pad and the hash of the inner pad and the text.
 * Undefined where the secret is text or long, or the text has more than ASCII.
 */
function hmacAtOnce(
  secret: Uint8Array | string,
  tag: string,
  parts: readonly string[],
): string | undefined {
  if (typeof secret === "string" || secret.length > BLOCK_BYTES) return undefined;
  const end = listInto(asciiInto(BLOCK_BYTES, tag), parts);
  if (end < 0) return undefined;
  if (lastPads?.secret !== secret) {
    const pads = { inner: padded(secret, INNER_PAD), outer: padded(secret, OUTER_PAD) };
    lastPads = { secret, pads };
  }
  const { inner, outer } = lastPads.pads;
  scratch.set(inner, 0);
  const digest = hash("sha256", laid(end), "hex");
  scratch.set(outer, 0);
  for (let at = 0; at < DIGEST_BYTES; at += 1) {
    scratch[BLOCK_BYTES + at] = (nibble(digest, 2 * at) << 4) | nibble(digest, 2 * at + 1);
  }
  return hash("sha256", laid(BLOCK_BYTES + DIGEST_BYTES), "base64url");
}

/** What a hex digit in lower case is worth. */
function nibble(digits: string, at: number): number {
  const unit = charCodeAt.call(digits, at);
  return unit > 0x39 ? unit - 0x57 : unit - 0x30;
}

function padded(secret: Uint8Array, pad: number): Uint8Array {
  return Uint8Array.from({ length: BLOCK_BYTES }, (_, at) => (secret[at] ?? 0) ^ pad);
}

/** HMAC-SHA-256, 32 bytes. */
export function hmac(key: Uint8Array, text: string): Uint8Array {
  return createHmac("sha256", key).update(text, "utf8").digest();
}

const AES = "aes-256-gcm";
const TAG = { authTagLength: 16 } as const;

/** `bound`: what a text is opened with alone, beside the key. */
type Lock = { readonly key: Uint8Array; readonly nonce: Uint8Array; readonly bound: Uint8Array };

/** AES-256-GCM in hex, its tag of 16 bytes last. */
export function encrypted({ key, nonce, bound }: Lock, text: string): string {
  const cipher = createCipheriv(AES, key, nonce, TAG).setAAD(bound);
  const body = cipher.update(text, "utf8", "hex") + cipher.final("hex");
  return body + cipher.getAuthTag().toString("hex");
}

/** The text of the bytes before the tag; null where anything of it is another. */
export function decrypted(lock: Lock, body: string, tag: Uint8Array): string | null {
  try {
    const opening = createDecipheriv(AES, lock.key, lock.nonce, TAG).setAAD(lock.bound);
    return opening.setAuthTag(tag).update(body, "hex", "utf8") + opening.final("utf8");
  } catch {
    return null;
  }
}

/** Link of a hash chain: SHA-256 of the link before it and of a record's bytes, 64 hex digits. */
export function chainHash(previousHex: string, record: Uint8Array | string): string {
  return sha256Hex("callgate.chain/1", previousHex, record);
}
