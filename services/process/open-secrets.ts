import type { Config } from "../adapters/config/config-schema.ts";
import {
  registerSecrets,
  type Secret,
  type SecretStore,
  secretFrom,
} from "../adapters/config/secret-file.ts";
import { readSecretText } from "../adapters/config/secret-files.ts";
import { usageError } from "./exit-error.ts";

const REMEDY =
  "Name the earlier secrets in `secret.previousFiles` (or set the previous one as " +
  "`secret.value` again). If one is lost for good, see what that means with `callgate recover` and accept it " +
  "with `callgate recover --accept-loss`";

/** @throws ExitError: a secret is too short, or the file of an earlier one cannot be read. */
export function openSecrets({ secret }: Config): SecretStore {
  const current = parseSecret("secret.value", secret.value ?? "");
  const previous = secret.previousFiles.map((file) => {
    const read = readSecretText(file);
    if (!read.ok) throw usageError(`secret.previousFiles: ${read.message}; check the path`);
    return parseSecret("secret.previousFiles", read.text);
  });
  return registerSecrets(current, previous, REMEDY);
}

function parseSecret(key: string, text: string): Secret {
  const result = secretFrom(text);
  if (result.ok) return result.secret;
  throw usageError(`${key}: ${result.problem.message}`);
}
