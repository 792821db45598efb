/** Tiers for tools that a person may want to decide on. */
import { printable } from "../../../output/text.ts";
import type { Danger, ToolGuess } from "./guess-tool.ts";

export type TierProposal = {
  readonly danger: Danger;
  readonly tools: readonly string[];
};

/** Written into the policy; the other dangers are proposed in comments. */
const HELD: ReadonlySet<Danger> = new Set(["destroys"]);

const NAMES: Readonly<Record<Danger, string>> = {
  destroys: "destroys",
  deletes: "deletes",
  money: "money",
  messages: "messages",
  access: "access",
};

const EXPIRES_MS = 900_000;
/** A name with one of these would be a pattern; such a tool gets no tier. */
const IN_PATTERN = /[*|?[\]{}"\\]/;

export function proposeTiers(guesses: ReadonlyMap<string, ToolGuess>): readonly TierProposal[] {
  const byDanger = new Map<Danger, string[]>();
  for (const [name, { danger }] of guesses) {
    if (danger === null || IN_PATTERN.test(name)) continue;
    byDanger.set(danger, [...(byDanger.get(danger) ?? []), name]);
  }
  return [...byDanger].map(([danger, tools]) => ({ danger, tools }));
}

/** The tiers that hold calls from the start. */
export function heldTiers(proposals: readonly TierProposal[]): readonly object[] {
  return proposals
    .filter(({ danger }) => HELD.has(danger))
    .map(({ danger, tools }) => ({
      name: NAMES[danger],
      pattern: tools.join("|"),
      action: "hitl",
      expires_ms: EXPIRES_MS,
    }));
}

const LINE_CHARACTERS = 400;

/** Comment lines above `authorization`, with tiers to take the `#` from. */
export function describeTiers(proposals: readonly TierProposal[]): readonly string[] {
  const held = proposals.some(({ danger }) => HELD.has(danger));
  const others = proposals.filter(({ danger }) => !HELD.has(danger));
  const lines = held
    ? ["Held for a person: what cannot be undone and takes along what others own."]
    : [];
  if (others.length === 0) return lines;
  return [
    ...lines,
    held
      ? "To let a person decide on more, move one of these lines into `tiers:`"
      : "To let a person decide, write `tiers:` below `default:`, and one of these lines below that",
    ...others.map(({ danger, tools }) =>
      printable(
        `- { name: ${NAMES[danger]}, pattern: "${tools.join("|")}", action: hitl, expires_ms: ${EXPIRES_MS} }`,
        LINE_CHARACTERS + tools.length * LINE_CHARACTERS,
      ),
    ),
  ];
}
