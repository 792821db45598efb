/** Runs recorded conversations through two policies, one conversation at a time. */
import { nameOfInput, readLines } from "../input/read-lines.ts";
import { parseRecording, type RecordedConversation } from "../replay/recording.ts";
import {
  type ReplayOptions,
  type ReplayPolicy,
  replayConversation,
} from "../replay/replay-conversation.ts";
import type { Changes } from "./changes.ts";

export type BacktestPolicies = {
  readonly current: ReplayPolicy;
  readonly candidate: ReplayPolicy;
};

const OPTIONS: ReplayOptions = { feedRefused: false, applyStops: false, heldAllow: false };

/** Returns how many lines were no recorded conversation; each is reported. */
export async function backtestFiles(
  paths: readonly string[],
  policies: BacktestPolicies,
  changes: Changes,
  onBrokenLine: (message: string) => void,
): Promise<number> {
  let broken = 0;
  for (const path of paths) {
    for await (const { text, number } of readLines({ path })) {
      const location = `${nameOfInput(path)}:${number}`;
      const parsed = parseRecording(text);
      if (!parsed.ok) {
        broken += 1;
        onBrokenLine(`${location}: ${parsed.problem}; correct the line or remove it`);
        continue;
      }
      compareConversation(parsed.conversation, policies, changes, location);
    }
  }
  return broken;
}

/** Decides one conversation by both policies, and adds what changes. */
export function compareConversation(
  conversation: RecordedConversation,
  { current, candidate }: BacktestPolicies,
  changes: Changes,
  location: string,
): void {
  const before = replayConversation(conversation, current, OPTIONS);
  const after = replayConversation(conversation, candidate, OPTIONS);
  changes.addConversation();
  let changed = false;
  for (const [index, { decision }] of after.entries()) {
    const was = before[index]?.decision;
    if (was !== undefined && changes.add(was, decision, location, changed)) changed = true;
  }
}
