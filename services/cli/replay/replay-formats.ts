export const REPLAY_FORMATS = ["table", "jsonl", "json"] as const;

/** table: a summary for people. jsonl: one line per call. json: the summary for programs. */
export type ReplayFormat = (typeof REPLAY_FORMATS)[number];
