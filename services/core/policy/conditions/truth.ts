/**
 * What a test of a call says. `unreadable`: the call does not have the value, or has it in a form
 * that the test does not understand; whoever asks must then assume the worse of both answers.
 */
export type Truth = boolean | "unreadable";

/** The result of one test, for people. */
export interface TestedArgument {
  /** `amount at_most 50`, as the policy has it. */
  readonly text: string;
  readonly truth: Truth;
}

export function not(truth: Truth): Truth {
  return truth === "unreadable" ? truth : !truth;
}

/** False where one is false, whatever the others are. */
export function every(truths: Iterable<Truth>): Truth {
  let all: Truth = true;
  for (const truth of truths) {
    if (truth === false) return false;
    if (truth === "unreadable") all = truth;
  }
  return all;
}

/** True where one is true, whatever the others are. */
export function some(truths: Iterable<Truth>): Truth {
  let any: Truth = false;
  for (const truth of truths) {
    if (truth === true) return true;
    if (truth === "unreadable") any = truth;
  }
  return any;
}
