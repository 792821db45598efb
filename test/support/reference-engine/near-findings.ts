// The check `near_duplicate` of the reference engine: by the exact likeness of whole texts, not by sketches.
import type { Question } from "./checks.ts";
import { exactLikeness, shinglesOf } from "./exact-likeness.ts";
import { byOrder, type Call, type Similar, writtenSince } from "./history.ts";

/** The most shingles that a sketch holds; for longer texts the engine's similarity has an error. */
const HELD_WHOLE = 256;

/** The key of the strike, from the first text of this turn that is almost equal. */
export function nearFindings(question: Question): string[] {
  const { asked, meant } = question;
  if (meant || asked.tool.modes.near_duplicate === "off") return [];
  const near = asked.similar.find((one) => isNear(question, one));
  return near === undefined ? [] : [near.key];
}

function isNear({ history, asked, policy, atMs }: Question, similar: Similar): boolean {
  const { idleMs, maxAgeMs } = policy.conversation;
  const writtenMs = Math.max(
    policy.longestWindowMs,
    policy.idempotencyTtlMs,
    asked.touched === null ? 0 : maxAgeMs,
  );
  const retainedMs = asked.tool.isRead ? idleMs : writtenMs;
  const textIn = (call: Call) => call.similar.find(({ key }) => key === similar.key)?.text;
  const earlier = history.calls
    .filter((call) => call.kind === "allowed" && call.turn === history.turns)
    .filter((call) => textIn(call) !== undefined)
    .sort(byOrder)
    .at(-1);
  if (earlier === undefined || atMs >= earlier.atMs + retainedMs) return false;
  if (earlier.status === "failed" || earlier.status === "not_executed") return false;
  if (earlier.actionKey === asked.actionKey) return false;
  const anything = { ...asked, resources: null, tool: { ...asked.tool, isRead: false } };
  if (writtenSince(history, anything, earlier.order)) return false;
  return isAlike(similar, textIn(earlier) ?? "");
}

/** @throws where the texts are so near the threshold that the engine's error decides. */
function isAlike({ text, threshold }: Similar, earlier: string): boolean {
  const alike = exactLikeness(text, earlier);
  const error = Math.sqrt((threshold * (1 - threshold)) / HELD_WHOLE);
  const isEstimated = [text, earlier].some((one) => shinglesOf(one).size > HELD_WHOLE);
  if (isEstimated && Math.abs(alike - threshold) < 4 * error) {
    throw new Error(`${alike} is too near ${threshold} to be told from it`);
  }
  return alike >= threshold;
}
