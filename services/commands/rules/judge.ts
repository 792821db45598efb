/**
 * What becomes of a call: one verdict for each command of a line, file that it redirects to, statement or request.
 * The call is as strict as the strictest of them. What is not understood matches nothing that allows.
 */
import { type CommandPart, FILE, type Part, READS, type Visited } from "./part.ts";
import type { ReadCall } from "./read-call.ts";
import { isFree, type RuleTest } from "./rule.ts";

/** Of a repeat: `read` is answered from memory, `watch` and `run` run again, `write` is a duplicate. */
export type Deed = "read" | "watch" | "run" | "write";

export interface Verdict {
  /** The part, for people. */
  readonly text: string;
  readonly does: Deed;
  /** Number of the rule that decides; `known`: none, but what it does is known; `unclear`: nothing. */
  readonly by: number | "known" | "unclear";
  /** Why it is unclear, as a clause: `the option --x of git status is not known`. */
  readonly reason: string | null;
}

export interface Rules {
  readonly rules: readonly { readonly fits: RuleTest; readonly isStrict: boolean }[];
  /** Lines share one shell: whoever moves its directory changes what later lines mean. */
  readonly isSession: boolean;
}

/** A verdict for each part of a call. None: an empty line, which does nothing. */
export function judgeCall({ parts, unread }: ReadCall, rules: Rules): readonly Verdict[] {
  const judged = parts.flatMap((part) => judgePart(part, rules));
  if (unread === null) return judged;
  return [
    { text: cut(unread.text), does: "write", by: "unclear", reason: unread.reason },
    ...judged,
  ];
}

const TEXT_MAX = 120;

function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}

/** The verdict of the first rule that is about it. What is not wholly understood is unclear beside that. */
function judgePart(part: Part, rules: Rules): readonly Verdict[] {
  const text = textOf(part);
  const unseen = part.kind === "command" ? part.unseen : null;
  const by = rules.rules.findIndex(
    ({ fits, isStrict }) => (isStrict || unseen === null) && fits(part, isStrict),
  );
  const does = deedOf(part, rules);
  const unknown = unseen ?? (part.kind === "command" && part.hasTable ? part.form.problem : null);
  const ruled: readonly Verdict[] = by < 0 ? [] : [{ text, does, by, reason: null }];
  if (by >= 0 && unknown === null) return ruled;
  const reason = unknown ?? (part.kind === "command" ? problemOf(part) : null);
  const isRead = READS.has(doesOf(part));
  if (reason !== null) return [...ruled, { text, does, by: "unclear", reason }];
  const isKnown = isRead || rules.rules.length === 0 || isFile(part);
  return [
    { text, does, by: isKnown ? "known" : "unclear", reason: isKnown ? null : whyNotKnown(part) },
  ];
}

/** Of a tool for files that no rule names: the tool's own entry says what becomes of it. */
function isFile(part: Part): boolean {
  return part.kind === "command" && part.form.program === FILE;
}

function whyNotKnown(part: Part): string {
  return doesOf(part) === "send" ? "it leaves the machine" : "no rule names it";
}

/** Why a command is not free, whatever it does; null: nothing speaks against it. */
function problemOf(part: CommandPart): string | null {
  if (part.form.problem !== null) return part.form.problem;
  const odd = part.visited.find((one) => one.isSecret || !isFree(one.place, part));
  return odd === undefined ? null : `${odd.path} ${whyNot(odd)}`;
}

function whyNot({ path, access, isSecret, place }: Visited): string {
  if (isSecret) return "is a secret";
  if (access === "write" && /(?:^|\/)\.git(?:\/|$)/.test(path))
    return "is read by git, which runs what it names";
  return place === "root_or_home"
    ? "belongs to the system or a home directory"
    : "lies outside of the workspace";
}

function doesOf(part: Part): string {
  return part.kind === "command" ? part.form.does : part.does;
}

function deedOf(part: Part, { isSession }: Rules): Deed {
  const does = doesOf(part);
  if (does === "read" && isSession && part.kind === "command" && part.form.program === "cd")
    return "run";
  if (does === "read" || does === "watch" || does === "run") return does;
  // Nobody knows what a program without a table acts on, so that its repeat is no second write of the same thing.
  return does === "unknown" && part.kind === "command" && !part.hasTable ? "run" : "write";
}

function textOf(part: Part): string {
  const whole =
    part.kind === "command"
      ? part.words.join(" ")
      : part.kind === "statement"
        ? [part.statement, ...part.tables].join(" ")
        : `${part.method} ${part.host}${part.path}`;
  return cut(whole);
}
