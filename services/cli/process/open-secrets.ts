import type { Config } from "../../adapters/config/config-schema.ts";
import { type Secret, secretFrom } from "../../adapters/config/secret-file.ts";
import { readSecretText } from "../../adapters/config/secret-files.ts";
import { usageError } from "../output/cli-error.ts";

export type OpenSecrets = {
  /** New keys are made with it. */
  readonly current: Secret;
  /** All that keys may have been made with, by key id. */
  readonly byKeyId: ReadonlyMap<string, Uint8Array>;
};

/** @throws CliError: too short, or the file of an earlier one cannot be read. */
export function openSecrets({ secret }: Config): OpenSecrets {
  const current = checked("secret.value", secret.value ?? "");
  const previous = secret.previousFiles.map((file) => {
    const read = readSecretText(file);
    if (!read.ok) throw usageError(`secret.previousFiles: ${read.message}; check the path`);
    return checked("secret.previousFiles", read.text);
  });
  const all = [...previous, current].map(({ keyId, bytes }) => [keyId, bytes] as const);
  return { current, byKeyId: new Map(all) };
}

function checked(key: string, text: string): Secret {
  const result = secretFrom(text);
  if (result.ok) return result.secret;
  throw usageError(`${key}: ${result.problem.message}`);
}
