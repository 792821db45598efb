import { join } from "node:path";
import {
  makeSecret,
  openSecretFile,
  registerSecrets,
  SECRET_FILE,
  type SecretResult,
  type SecretStore,
  secretsFrom,
} from "../adapters/config/secret-file.ts";
import { CallgateError } from "../client/api/callgate-error.ts";
import type { SecretOption } from "../client/api/gate-types.ts";

/**
 * @param isNew nothing was decided there yet, so a secret may be generated.
 * @throws CallgateError `secret_unreadable`
 */
export function openSecret(
  secret: SecretOption | undefined,
  dataDir: string | false,
  isNew: boolean,
): SecretStore {
  const result: SecretResult =
    secret !== undefined
      ? secretsFrom(secret)
      : dataDir === false
        ? { ok: true, secret: makeSecret(), earlier: [] }
        : openSecretFile(dataDir, isNew);
  if (result.ok) {
    const remedy = secretRemedy(secret !== undefined, dataDir);
    return registerSecrets(result.secret, result.earlier, remedy);
  }
  const { message, cause } = result.problem;
  throw new CallgateError("secret_unreadable", message, { cause });
}

function secretRemedy(isSecretSet: boolean, dataDir: string | false): string {
  if (dataDir === false) return "Open the gate again";
  const where = isSecretSet
    ? "Give the option `secret` that the directory was used with (none, where it has a file `secret` of its own)"
    : `Restore \`${join(dataDir, SECRET_FILE)}\` from a backup, or give the option \`secret\` that the directory was used with`;
  return `${where}. If it is lost for good, see what that means with \`callgate recover --data-dir ${dataDir}\` and accept it with \`--accept-loss\``;
}
