/** Where a command reads and writes. Results go to `out`, everything else to `err`. */
import type { Readable } from "node:stream";
import type { WriteStream } from "node:tty";
import { type Env, readEnv } from "../../adapters/config/read-env.ts";
import { fileError } from "../../process/text-files.ts";
import { createStyle, type Style } from "./style.ts";

export interface Output {
  /** Resolves when more may be written. @throws ClosedOutput: the reader has gone; ExitError. */
  readonly write: (text: string) => Promise<void>;
  /** Resolves when everything written has left the process. @throws as `write`. */
  readonly flush: () => Promise<void>;
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly style: Style;
}

export interface Terminal {
  readonly input: Readable;
  /** Whether a person can answer: stdin and stdout are terminals. */
  readonly isInteractive: boolean;
  readonly out: Output;
  readonly err: Output;
  /** Show the stack of unexpected errors. */
  readonly debug: boolean;
}

/** The reader of the output has gone, as in `callgate … | head`: the end, but no error. */
export class ClosedOutput extends Error {}

const COLUMNS_DEFAULT = 100;

export function systemTerminal(): Terminal {
  const env = readEnv();
  return {
    input: process.stdin,
    isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    out: outputTo(process.stdout, "stdout", env),
    err: outputTo(process.stderr, "stderr", env),
    debug: env.debug,
  };
}

function outputTo(stream: WriteStream, name: string, env: Env): Output {
  let failure: Error | undefined;
  // The listener stays: an unhandled error event would end the process with a stack trace.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    failure ??= error.code === "EPIPE" ? new ClosedOutput() : fileError("write", name, error);
  });
  const settled = async (done: Promise<unknown>) => {
    await done;
    if (failure !== undefined) throw failure;
  };
  const isTerminal = stream.isTTY === true;
  return {
    isTerminal,
    columns: stream.columns ?? COLUMNS_DEFAULT,
    style: createStyle(env.forceColor || (isTerminal && !env.noColor && !env.dumbTerminal)),
    write: async (text) => {
      if (failure !== undefined) throw failure;
      if (!stream.write(text)) await settled(drained(stream));
    },
    flush: () => settled(flushed(stream)),
  };
}

/** Also resolves if the stream failed; its error is remembered. */
function drained(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done);
      stream.off("error", done);
      resolve();
    };
    stream.once("drain", done);
    stream.once("error", done);
  });
}

/** A write failure is reported by an event that follows the write's callback. */
function flushed(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write("", () => setImmediate(resolve));
  });
}
