import { createDecipheriv, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openText, sealedDigest, sealText } from "../../../../services/core/seal/seal-text.ts";

const SECRET = Buffer.from("a secret that is long enough");
const SEAL_PATH = ["acme", "decision", "/card"] as const;
const CARD = '"4111 2222 é 𝄞"';

const hmac = (key: Uint8Array, tag: string, parts: readonly string[]) =>
  createHmac("sha256", key)
    .update(`${tag}\n${JSON.stringify(parts)}`)
    .digest();

test("a digest is HMAC-SHA-256 of tenant and value", () => {
  const expected = hmac(SECRET, "callgate.sealed/1", ["acme", CARD]).toString("hex");
  expect(sealedDigest(SECRET, "acme", CARD)).toBe(expected);
});

test("different parts have different digests, wherever one ends", () => {
  const digests = [
    ["a", "bc"],
    ["ab", "c"],
    ["a", 'b","c'],
    ["", "abc"],
    ["a", "\ud800"],
    ["a", "\udc00"],
  ].map(([tenant = "", text = ""]) => sealedDigest(SECRET, tenant, text));
  expect(new Set(digests).size).toBe(digests.length);
});

describe("a sealed text", () => {
  const sealedText = sealText(SECRET, SEAL_PATH, CARD);

  test("is AES-256-GCM as the platform computes it, with the tag at the end", () => {
    const key = hmac(SECRET, "callgate.seal-key/1", ["acme"]);
    const bytes = Buffer.from(sealedText.sealed, "hex");
    const opening = createDecipheriv("aes-256-gcm", key, Buffer.from(sealedText.nonce, "hex"));
    opening.setAAD(hmac(key, "callgate.seal-place/1", SEAL_PATH));
    opening.setAuthTag(bytes.subarray(-16));
    const text = opening.update(bytes.subarray(0, -16)).toString("utf8") + opening.final("utf8");
    expect(text).toBe(CARD);
  });

  test("is the same each time, and differs for another text or path", () => {
    expect(sealText(SECRET, SEAL_PATH, CARD)).toEqual(sealedText);
    const others = [
      sealText(SECRET, SEAL_PATH, '"4111"'),
      sealText(SECRET, ["acme", "decision", "/other"], CARD),
      sealText(SECRET, ["other", "decision", "/card"], CARD),
      sealText(Buffer.from("another secret"), SEAL_PATH, CARD),
    ];
    expect(new Set([sealedText, ...others].map(({ nonce }) => nonce)).size).toBe(5);
  });

  test.each(["", "x", CARD, "x".repeat(10_000)])("opens to the text that was sealed", (text) => {
    expect(openText(SECRET, SEAL_PATH, sealText(SECRET, SEAL_PATH, text))).toBe(text);
  });

  const { nonce, sealed } = sealedText;
  const flipped = (hex: string, at: number) =>
    hex.slice(0, at) + (hex[at] === "0" ? "1" : "0") + hex.slice(at + 1);

  test.each([
    ["a part of its bytes", { nonce, sealed: flipped(sealed, 3) }],
    ["its tag", { nonce, sealed: flipped(sealed, sealed.length - 1) }],
    ["its nonce", { nonce: flipped(nonce, 0), sealed }],
    ["the length of its nonce", { nonce: "", sealed }],
    ["its length", { nonce, sealed: sealed.slice(2) }],
    ["nearly everything", { nonce, sealed: sealed.slice(-30) }],
    ["its alphabet", { nonce, sealed: `zz${sealed.slice(2)}` }],
  ])("is not opened with another %s", (_what, other) => {
    expect(openText(SECRET, SEAL_PATH, other)).toBeNull();
  });

  test("is not opened for another tenant, decision or path, nor with another secret", () => {
    for (const path of [
      ["x", "decision", "/card"],
      ["acme", "x", "/card"],
      ["acme", "decision"],
    ]) {
      expect(openText(SECRET, path as [string], sealedText)).toBeNull();
    }
    expect(openText(Buffer.from("another secret"), SEAL_PATH, sealedText)).toBeNull();
  });
});
