// Makes a certificate for 127.0.0.1 with openssl, if that is installed.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeAtEnd } from "../../../infra/local/child.js";
import { saySkipped } from "../skipped.ts";

export type Certificate = {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
};

/** Undefined, with a printed reason, if there is no openssl. */
export function makeCertificate(): Certificate | undefined {
  if (spawnSync("openssl", ["version"], { stdio: "ignore" }).status !== 0) {
    saySkipped(
      "openssl",
      "`openssl` is not on the path: install it (Debian: apt-get install openssl)",
    );
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "callgate-tls-"));
  removeAtEnd(folder);
  const certFile = join(folder, "cert.pem");
  const keyFile = join(folder, "key.pem");
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const files = ["-keyout", keyFile, "-out", certFile];
  const name = ["-subj", "/CN=callgate-test", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", "-days", "2", ...key, ...files, ...name], {
    stdio: "ignore",
  });
  const read = (path: string) => readFileSync(path, "utf8");
  return { certFile, keyFile, cert: read(certFile), key: read(keyFile) };
}
