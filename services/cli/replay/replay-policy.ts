import { capabilities } from "../../gate/capabilities.ts";
import type { OpenedPolicy } from "../policy/open-policy.ts";
import { compileLoaded } from "../policy/open-policy.ts";
import type { ReplayPolicy } from "./replay-conversation.ts";

export function replayPolicy({ loaded, compiled }: OpenedPolicy): ReplayPolicy {
  const shadow = { ...loaded.document, mode: "shadow" } as const;
  return { enforced: compiled, shadowed: compileLoaded(loaded, shadow, capabilities) };
}
