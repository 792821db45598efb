import type { SecretStore } from "../adapters/config/secret-file.ts";
import { keyIdAt, type TimedSecret } from "../process/open-secrets.ts";
import type { Clock } from "../runtime/ports.ts";
import type { WatchedPolicy } from "./watched-policy.ts";

const LOOK_EVERY_MS = 500;
const RETRY_MS = 60_000;

type Parts = {
  readonly secrets: Pick<SecretStore, "use">;
  readonly timed: readonly TimedSecret[];
  readonly policy: Pick<WatchedPolicy, "current" | "renewSecret">;
  readonly clock: Pick<Clock, "nowMs">;
};

/**
 * Makes each secret the current one when its time has come. The journal names a secret before a
 * decision uses it: it takes the current one from the store, and a decision takes that of the policy,
 * which comes second. Returns the function that ends this.
 */
export function rotateSecrets({ secrets, timed, policy, clock }: Parts): () => void {
  if (timed.length < 2) return () => undefined;
  let nextLookMs = 0;
  const look = (): void => {
    const nowMs = clock.nowMs();
    const keyId = keyIdAt(timed, nowMs);
    if (keyId === policy.current.keyId || nowMs < nextLookMs) return;
    nextLookMs = nowMs + RETRY_MS;
    secrets.use(keyId);
    void policy.renewSecret();
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}
