/** Where a command reads and writes. Results go to `out`, everything said beside them to `err`. */
import type { Readable } from "node:stream";
import type { WriteStream } from "node:tty";
import { type Env, readEnv } from "../../adapters/config/read-env.ts";
import { fileError } from "../../process/text-files.ts";
import { createStyle, type Style } from "./style.ts";

export interface Output {
  /** Resolves when more may be written. @throws ClosedOutput: nobody reads any more; ExitError. */
  readonly write: (text: string) => Promise<void>;
  /** Resolves when everything written has left the process. @throws as `write`. */
  readonly flush: () => Promise<void>;
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly style: Style;
}

export interface Terminal {
  readonly input: Readable;
  /** A person is there to answer: stdin and stdout are terminals. */
  readonly isInteractive: boolean;
  readonly out: Output;
  readonly err: Output;
  /** Show the stack of an error that nobody expected. */
  readonly debug: boolean;
}

/** The reader of the output has gone, as in `callgate … | head`: no error, but an end. */
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
  // Kept for good: an error event that nobody listens to would end the process with a stack.
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

/** Also resolves where the stream failed: its error is kept. */
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

/** What fails is told by an event that comes after the write was called back. */
function flushed(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write("", () => setImmediate(resolve));
  });
}
