import type { Config } from "../adapters/config/config-schema.ts";
import {
  registerSecrets,
  type Secret,
  type SecretStore,
  secretFrom,
} from "../adapters/config/secret-file.ts";
import { usageError } from "./exit-error.ts";

const REMEDY =
  "Name the earlier secret in the list `secrets`, beside the one that replaced it. If it is lost for good, " +
  "see what that means with `callgate recover` and accept it with `callgate recover --accept-loss`";

/** A secret of the configuration. */
export type TimedSecret = {
  /** Its name in the configuration. */
  readonly id: string;
  readonly keyId: string;
  /** When it begins to make keys; -Infinity: it always did. */
  readonly fromMs: number;
};

export type OpenedSecrets = {
  readonly store: SecretStore;
  /** In the order in which they begin. */
  readonly timed: readonly TimedSecret[];
};

/** Whether the configuration names a secret. */
export function hasSecrets({ secret, secrets }: Config): boolean {
  return secret.value !== undefined || secrets.length > 0;
}

/** @throws ExitError: a secret is too short. */
export function openSecrets({ secret, secrets }: Config, nowMs: number): OpenedSecrets {
  const entries = secrets.length > 0 ? secrets : [{ id: "secret", value: secret.value }];
  const all = entries.map(({ id, value, ...entry }) => {
    const from = "from" in entry ? entry.from : undefined;
    const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
    return { id, fromMs, secret: parseSecret(id, value ?? "") };
  });
  const timed = all
    .map(({ id, fromMs, secret: { keyId } }) => ({ id, fromMs, keyId }))
    .sort((one, other) => one.fromMs - other.fromMs);
  const keyId = keyIdAt(timed, nowMs);
  const made = all.map((one) => one.secret);
  const current = made.find((one) => one.keyId === keyId);
  if (current === undefined) throw new Error("no secret is in force");
  const others = made.filter((one) => one.keyId !== keyId);
  return { store: registerSecrets(current, others, REMEDY), timed };
}

/** Key id of the secret that makes new keys at a time: the latest that has begun. */
export function keyIdAt(timed: readonly TimedSecret[], nowMs: number): string {
  const begun = timed.findLast(({ fromMs }) => fromMs <= nowMs) ?? timed[0];
  return begun?.keyId ?? "";
}

function parseSecret(id: string, text: string): Secret {
  const result = secretFrom(text);
  if (result.ok) return result.secret;
  throw usageError(`the secret \`${id}\`: ${result.problem.message}`);
}
