/** Where a command reads and writes. Results go to `out`, everything said beside them to `err`. */
import type { Readable } from "node:stream";
import type { WriteStream } from "node:tty";
import { type Env, readEnv } from "../../adapters/config/read-env.ts";
import { createStyle, type Style } from "./style.ts";

export interface Output {
  /** Resolves when more may be written. @throws ClosedOutput: nobody reads any more. */
  readonly write: (text: string) => Promise<void>;
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
    out: outputTo(process.stdout, env),
    err: outputTo(process.stderr, env),
    debug: env.debug,
  };
}

type Stream = Pick<WriteStream, "isTTY" | "columns" | "write" | "once" | "off" | "on">;

function outputTo(stream: Stream, env: Env): Output {
  let closed = false;
  const isTerminal = stream.isTTY === true;
  // Kept for good: an error event that nobody listens to would end the process with a stack.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    closed = closed || error.code === "EPIPE";
  });
  return {
    isTerminal,
    columns: stream.columns ?? COLUMNS_DEFAULT,
    style: createStyle(env.forceColor || (isTerminal && !env.noColor && !env.dumbTerminal)),
    write: async (text) => {
      if (closed) throw new ClosedOutput();
      if (!stream.write(text)) await drained(stream);
    },
  };
}

function drained(stream: Stream): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDrain = () => {
      stream.off("error", onError);
      resolve();
    };
    const onError = (error: NodeJS.ErrnoException) => {
      stream.off("drain", onDrain);
      reject(error.code === "EPIPE" ? new ClosedOutput() : error);
    };
    stream.once("drain", onDrain);
    stream.once("error", onError);
  });
}
