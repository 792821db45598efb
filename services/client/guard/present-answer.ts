/**
 * What a guarded tool returns besides the output: whether it is an earlier output, a note about
 * that for the model, and the warnings of the decision.
 *
 * ANSWER-1 an output from memory is marked as one in every answer form.
 * ANSWER-2 no warning is lost: it is in the wrapped answer, in the note of a text, or returned by
 *   `warningsOf`.
 */
import { cutResult, DUPLICATE_NOTE_START } from "../../core/duplicate-note.ts";
import type { CallRefused } from "../../core/events.ts";
import type { AnswerForm, Decision, Warning } from "../api/gate-types.ts";
import { isRefused } from "../api/refused.ts";
import { readOutput } from "../values/output-text.ts";

/**
 * An output with its duplicate flag, note and warnings. A call that does not run returns `Refused`
 * in every form.
 */
export type WrappedAnswer<Result> = {
  /** As the function returned it, now or earlier. */
  readonly output: Result;
  /** True: the function did not run for this call; the output is an earlier one. */
  readonly duplicate: boolean;
  /** For the model; null if there is nothing to say, or if `append_system_note` is false. */
  readonly note: string | null;
  /** From checks in mode `warn`: each `message` is for the model. */
  readonly warnings: readonly Warning[];
};

/** An output that was not made for this call. */
export class EarlierOutput {
  readonly output: unknown;
  readonly note: string | null;

  constructor(output: unknown, note: string | null) {
    this.output = output;
    this.note = note;
  }
}

const NOTE_BEGINS = "\n\n[Gate: ";

/** The earlier output, if the refusal is answered from memory; else null. */
export function earlierOutputOf({ answered, refusal }: CallRefused): EarlierOutput | null {
  if (answered === null || refusal.reason !== "duplicate_call") return null;
  const { previousResult } = refusal;
  const inline = previousResult?.inline ?? null;
  const output = inline === null ? undefined : readOutput(inline);
  return new EarlierOutput(output, shortNote(refusal.note));
}

/** The refusal's own note quotes the result, which this answer already contains. */
function shortNote(note: string | null): string | null {
  return note === null ? null : `${cutResult(note)}. This is its earlier result.`;
}

type AnswerFacts = { readonly duplicate: boolean; readonly warnings: readonly Warning[] };

/** Facts about outputs that are objects, and about errors, for as long as they live. */
const answerFacts = new WeakMap<object, AnswerFacts>();

export function presentAnswer(value: unknown, { warnings }: Decision, form: AnswerForm): unknown {
  const earlier = value instanceof EarlierOutput ? value : null;
  const output = earlier === null ? value : earlier.output;
  if (earlier === null && isRefused(output)) return output;
  const duplicate = earlier !== null;
  const note = earlier?.note ?? null;
  if (form === "wrapped")
    return { output, duplicate, note, warnings } satisfies WrappedAnswer<unknown>;
  if (typeof output === "string") return form === "bare" ? output : noted(output, note, warnings);
  remember(output, { duplicate, warnings });
  return output;
}

/** Attaches the warnings to an error that a function threw. */
export function presentError(error: unknown, { warnings }: Decision): void {
  remember(error, { duplicate: false, warnings });
}

function remember(value: unknown, what: AnswerFacts): void {
  if (typeof value !== "object" || value === null) return;
  // A function may return the same object repeatedly: facts of an earlier call do not apply to this
  // one.
  if (what.duplicate || what.warnings.length > 0) answerFacts.set(value, what);
  else answerFacts.delete(value);
}

function noted(output: string, note: string | null, warnings: readonly Warning[]): string {
  const said = [...(note === null ? [] : [note]), ...warnings.map(({ message }) => message)];
  return said.length === 0 ? output : `${output}${NOTE_BEGINS}${said.join(" ")}]`;
}

/**
 * Whether a guarded tool's answer is an earlier output, so that the function did not run for this
 * call. For a text the note tells; for a number or boolean only `answers: "wrapped"` or
 * `onDecision`.
 */
export function wasAnswered(answer: unknown): boolean {
  if (typeof answer === "string") return answer.includes(`${NOTE_BEGINS}${DUPLICATE_NOTE_START}`);
  return isObject(answer) && (answerFacts.get(answer)?.duplicate ?? false);
}

/**
 * The warnings of the decision on the call that returned this object or threw this error. A text
 * has its warnings in its note.
 */
export function warningsOf(answer: unknown): readonly Warning[] {
  if (isRefused(answer)) return answer.warnings ?? [];
  return (isObject(answer) && answerFacts.get(answer)?.warnings) || [];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
