import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { CallgateError } from "../client/api/callgate-error.ts";

/** Keys of the configuration that name PEM files. */
export type TlsFiles = {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly passphrase?: string | undefined;
};

/** Contents of the files, as clients expect them; unset keys are absent. */
export type TlsTexts = {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
};

/**
 * @param section the section of the configuration for messages, such as `kafka.ssl`.
 * @throws CallgateError `invalid_input` where a file cannot be read.
 */
export function readTlsFiles(section: string, files: TlsFiles): TlsTexts {
  const { caFile, certFile, keyFile, passphrase } = files;
  const pem = (key: string, file: string): string => readPem(`${section}.${key}`, file);
  return {
    // Configured authorities are added to the system's: alone they would replace them.
    ...(caFile === undefined
      ? {}
      : { ca: [...rootCertificates, pem("caFile", caFile)].join("\n") }),
    ...(certFile === undefined ? {} : { cert: pem("certFile", certFile) }),
    ...(keyFile === undefined ? {} : { key: pem("keyFile", keyFile) }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

function readPem(key: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `${key}: cannot be read: ${why}; check the path`;
    throw new CallgateError("invalid_input", message, { cause });
  }
}
