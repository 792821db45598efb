/** `callgate token keygen`: makes a key for the platform, and its public half for the gate. */
import { writeFileSync } from "node:fs";
import { makeTokenKey, type PlainJwk } from "../../adapters/tokens/token-keys.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { fileError } from "../../process/text-files.ts";
import { refuseExisting } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";

export interface KeygenOptions {
  readonly kid: string;
  readonly alg: "EdDSA" | "HS256";
  readonly out: string;
  readonly public?: string;
}

const OWNER_ONLY = 0o600;
const READABLE = 0o644;

export async function runKeygen(options: KeygenOptions, { out }: Terminal): Promise<ExitCode> {
  const { kid, alg, out: file, public: publicFile } = options;
  if (!/^[!-~]{1,256}$/.test(kid)) {
    throw usageError("--kid: give 1 to 256 printable ASCII characters without blanks");
  }
  if (alg === "EdDSA" && publicFile === undefined) {
    throw usageError("--public: name a file for the public key, which the gate needs");
  }
  if (alg === "HS256" && publicFile !== undefined) {
    throw usageError("--public: HS256 has one key for both sides; leave it out, or use EdDSA");
  }
  refuseExisting(file);
  refuseExisting(publicFile);
  const { signing, verifying } = makeTokenKey(alg, kid);
  writeSet(file, signing, OWNER_ONLY);
  await out.write(`${file}: the signing key; only the platform may read it\n`);
  if (publicFile === undefined) {
    await out.write("HS256: the gate needs the same file, and whoever reads it can sign\n");
    return EXIT_OK;
  }
  writeSet(publicFile, verifying, READABLE);
  await out.write(`${publicFile}: the verification key; name it in gate.proposalKeys\n`);
  return EXIT_OK;
}

function writeSet(file: string, key: PlainJwk, mode: number): void {
  try {
    writeFileSync(file, `${JSON.stringify({ keys: [key] }, null, 2)}\n`, { mode, flag: "wx" });
  } catch (error) {
    throw fileError("write", file, error);
  }
}
