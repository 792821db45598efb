/**
 * `noted` (default): the output; a text ends with a note for the model. `bare`: the output as it was returned.
 * `wrapped`: `WrappedAnswer`.
 */
export type AnswerForm = "noted" | "bare" | "wrapped";
