/**
 * Runs recordings through the engine, one conversation at a time: memory does not grow with the
 * files.
 */
import { nameOfInput, readLines } from "../input/read-lines.ts";
import { parseRecording, type RecordedConversation } from "./recording.ts";
import {
  type ReplayedCall,
  type ReplayOptions,
  type ReplayPolicy,
  replayConversation,
} from "./replay-conversation.ts";

export interface ReplayedConversation {
  readonly conversation: RecordedConversation;
  readonly calls: readonly ReplayedCall[];
  /** `file:line`, where it was read. */
  readonly location: string;
  /** The line itself: recordings contain more than the replay reads. */
  readonly text: string;
}

export interface ReplayFilesOptions extends ReplayOptions {
  readonly onBytes?: (bytes: number) => void;
  /** Reports a line that is no recorded conversation; the line is skipped. */
  readonly onBrokenLine: (message: string) => void;
}

/** @throws ExitError: a file cannot be read to its end. */
export async function* replayFiles(
  paths: readonly string[],
  policy: ReplayPolicy,
  options: ReplayFilesOptions,
): AsyncGenerator<ReplayedConversation> {
  const { onBytes } = options;
  for (const path of paths) {
    const source = onBytes === undefined ? { path } : { path, onBytes };
    for await (const { text, number } of readLines(source)) {
      const location = `${nameOfInput(path)}:${number}`;
      const parsed = parseRecording(text);
      if (!parsed.ok) {
        const at = parsed.column === null ? location : `${location}:${parsed.column}`;
        options.onBrokenLine(`${at}: ${parsed.problem}; correct the line or remove it`);
        continue;
      }
      const { conversation } = parsed;
      yield {
        conversation,
        location,
        text,
        calls: replayConversation(conversation, policy, options),
      };
    }
  }
}
