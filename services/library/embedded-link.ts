import { asCallgateError } from "../client/api/callgate-error.ts";
import type { GateLink } from "../client/gate-link.ts";
import type { Embedded } from "./open-embedded.ts";

/** Links to the gate of this process, which delivers everything by itself. */
export function linkToEmbedded(embedded: Embedded): GateLink {
  const { log, codec, gate } = embedded;
  return {
    log,
    codec,
    isRemote: false,
    get policyRevision() {
      return embedded.policy.compiled.revision;
    },
    get outputBytes() {
      return embedded.policy.compiled.outputBytes;
    },
    follow: () => null,
    onCommitted: (listener) => void gate.onCommitted(listener),
    onLost: (listener) => {
      let isNotified = false;
      gate.onStatus(({ state, error }) => {
        if (isNotified || state !== "closed" || error === null) return;
        isNotified = true;
        listener(asCallgateError(error));
      });
    },
    whyUnavailable: () => {
      const { detail } = gate.worstStatus();
      if (detail === "running") return null;
      return detail === "failed" ? "closed" : detail;
    },
    problem: () => gate.worstStatus().error?.message,
    keyOf: (event) => embedded.keyOf(event),
    argumentsOf: (event) => embedded.argumentsOf(event),
    reloadPolicy: () => embedded.reloadPolicy(),
    knowTools: (names) => embedded.knowTools(names),
    close: () => embedded.close(),
    // Closing waits for the gate, because its log is in this process.
    abandon: () => undefined,
  };
}
