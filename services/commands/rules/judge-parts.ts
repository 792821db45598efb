/**
 * Judges a call part by part: each command of a line, each file that it redirects to, each statement,
 * the request. The call is as strict as its strictest part. A part that is not understood matches no
 * rule that allows.
 */
import { type Does, isReading } from "../programs/program.ts";
import { type CommandPart, FILE, type Part, type Visit } from "./part.ts";
import type { ReadCall } from "./read-call.ts";
import { isFree, type RuleTest } from "./rule.ts";

/**
 * What a part does, as far as its repeat is concerned: a `read` is answered from memory, `watch` and
 * `run` run again, a `write` is a duplicate, and so is what sends.
 */
export type DoesOnRepeat = Exclude<Does, "send">;

export interface PartJudgement {
  /** The part, for people. */
  readonly text: string;
  readonly does: DoesOnRepeat;
  /** Number of the rule that decides; `tables`: none, but the tables say what it does; `unclear`: nothing does. */
  readonly by: number | "tables" | "unclear";
  /** Why it is unclear, as a clause: `the option --x of git status is not known`. */
  readonly reason: string | null;
}

export interface Rules {
  readonly rules: readonly { readonly fits: RuleTest; readonly isStrict: boolean }[];
  /** Lines share one shell: whoever moves its directory changes what later lines mean. */
  readonly isSession: boolean;
}

/** A judgement for each part of a call. None: an empty line, which does nothing. */
export function judgeParts({ parts, unread }: ReadCall, rules: Rules): readonly PartJudgement[] {
  const judgements = parts.flatMap((part) => judgePart(part, rules));
  if (unread === null) return judgements;
  const { text, reason } = unread;
  return [{ text: cut(text), does: "write", by: "unclear", reason }, ...judgements];
}

const TEXT_MAX = 120;

function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}

/** Judges by the first rule that is about the part. A part that is not wholly understood is also unclear. */
function judgePart(part: Part, { rules, isSession }: Rules): readonly PartJudgement[] {
  const text = describePart(part);
  const command = part.kind === "command" ? part : null;
  const unseen = command?.unseen ?? null;
  const by = rules.findIndex(
    ({ fits, isStrict }) => (isStrict || unseen === null) && fits(part, isStrict),
  );
  const does = doesOnRepeat(part, isSession);
  const ruled: readonly PartJudgement[] = by < 0 ? [] : [{ text, does, by, reason: null }];
  const misread = unseen ?? (command?.hasTable === true ? command.form.problem : null);
  if (by >= 0 && misread === null) return ruled;
  const reason = misread ?? (command === null ? null : findProblem(command));
  if (reason !== null) return [...ruled, { text, does, by: "unclear", reason }];
  // For a file that no rule names, the tool's own entry decides.
  const isFile = command?.form.program === FILE;
  if (isReading(part.does) || rules.length === 0 || isFile)
    return [{ text, does, by: "tables", reason: null }];
  const why = part.does === "send" ? "it leaves the machine" : "no rule names it";
  return [{ text, does, by: "unclear", reason: why }];
}

/** Why a command is not free, whatever it does; null: nothing speaks against it. */
function findProblem(part: CommandPart): string | null {
  if (part.form.problem !== null) return part.form.problem;
  const odd = part.visits.find((one) => one.isSecret || !isFree(one.position, part));
  return odd === undefined ? null : `${odd.path} ${whyNotFree(odd)}`;
}

function whyNotFree({ path, access, isSecret, position }: Visit): string {
  if (isSecret) return "is a secret";
  if (access === "write" && /(?:^|\/)\.git(?:\/|$)/.test(path))
    return "is read by git, which runs what it names";
  return position === "root_or_home"
    ? "belongs to the system or a home directory"
    : "lies outside of the workspace";
}

function doesOnRepeat(part: Part, isSession: boolean): DoesOnRepeat {
  const { does } = part;
  if (does === "read" && isSession && part.kind === "command" && part.form.program === "cd")
    return "run";
  if (does === "read" || does === "watch" || does === "run") return does;
  // Nobody knows what a program without a table acts on, so that its repeat is no second write of the same thing.
  return does === "unknown" && part.kind === "command" && !part.hasTable ? "run" : "write";
}

function describePart(part: Part): string {
  if (part.kind === "command") return cut(part.words.join(" "));
  if (part.kind === "statement") return cut([part.statement, ...part.tables].join(" "));
  return cut(`${part.method} ${part.host}${part.path}`);
}
