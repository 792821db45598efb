import { escapeHidden } from "../../core/hidden-text.ts";
import type { LogFields, Logger } from "../../runtime/ports.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Sink = { write(text: string): unknown };

/**
 * Creates a logger that writes one line a message: `warn: a checkpoint was ignored partition=0`.
 * Values with characters that could break the line are written as JSON.
 */
export function createStreamLogger(sink: Sink, level: LogLevel): Logger {
  const least = LOG_LEVELS.indexOf(level);
  const at = (name: LogLevel) => {
    const isShown = LOG_LEVELS.indexOf(name) >= least;
    return (message: string, fields: LogFields = {}): void => {
      if (isShown) sink.write(`${escapeHidden(`${name}: ${message}${shown(fields)}`)}\n`);
    };
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

const PLAIN = /^[\w.:/-]+$/;

function shown(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      const text = String(value);
      return ` ${name}=${PLAIN.test(text) ? text : JSON.stringify(text)}`;
    })
    .join("");
}
