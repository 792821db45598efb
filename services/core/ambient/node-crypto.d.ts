// The whole of Node that the core may see. The core is compiled with `types: []`, so that
// `process`, `Buffer`, timers and `node:fs` are compile errors there; `hash.ts` alone needs
// digests, and gets exactly these. The root tsconfig leaves this file out: there the real Node
// types are in force.
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
}
