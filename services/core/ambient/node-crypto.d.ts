// The whole of Node that the core may see. The core is compiled with `types: []`, so that
// `process`, `Buffer`, timers and `node:fs` are compile errors there; `hash.ts` alone needs digests
// and one cipher, and gets exactly these. The root tsconfig leaves this file out: it uses the real
// Node types.
declare module "node:crypto" {
  type Encoding = "hex" | "base64" | "base64url" | "latin1";
  interface Hash {
    update(data: Uint8Array): this;
    update(data: string, encoding: "utf8"): this;
    digest(): Uint8Array;
    digest(encoding: Encoding): string;
  }
  export function createHash(algorithm: "sha256"): Hash;
  export function createHmac(algorithm: "sha256", key: string | Uint8Array): Hash;
  export function hash(
    algorithm: "sha256",
    data: string | Uint8Array,
    outputEncoding?: Encoding,
  ): string;
  type Aes = "aes-256-gcm";
  type TagLength = { readonly authTagLength: 16 };
  interface Cipher {
    setAAD(bytes: Uint8Array): this;
    update(data: string, from: "utf8", to: "hex"): string;
    final(to: "hex"): string;
    getAuthTag(): { toString(encoding: "hex"): string };
  }
  interface Decipher {
    setAAD(bytes: Uint8Array): this;
    setAuthTag(tag: Uint8Array): this;
    update(data: string, from: "hex", to: "utf8"): string;
    final(to: "utf8"): string;
  }
  export function createCipheriv(
    algorithm: Aes,
    key: Uint8Array,
    nonce: Uint8Array,
    options: TagLength,
  ): Cipher;
  export function createDecipheriv(
    algorithm: Aes,
    key: Uint8Array,
    nonce: Uint8Array,
    options: TagLength,
  ): Decipher;
}
