import { pino } from "pino";
import { escapeHiddenInLines } from "../../core/hidden-text.ts";
import type { LogFields, Logger } from "../../runtime/ports.ts";
import { maskedUrl } from "../config/masked-config.ts";
import type { LogLevel } from "./stream-logger.ts";

/** Fields whose values are always masked. */
const SECRET_FIELDS = [
  "password",
  "passphrase",
  "secret",
  "token",
  "authorization",
  "idempotencyKey",
  "arguments",
  "output",
];

type Sink = { write(text: string): unknown };

/**
 * Creates a logger that writes one JSON object a line, `{"level", "time", "service", …fields,
 * "msg"}`, with times in ISO 8601. Ids have the names of the records: `tenantId`, `conversationId`,
 * `callId`, `decisionId`.
 *
 * @param base fields of every line, such as the service's name.
 */
export function createJsonLogger(sink: Sink, level: LogLevel, base: LogFields): Logger {
  const logger = pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS, censor: "********" },
    },
    { write: (line: string) => void sink.write(escapeHiddenInLines(line)) },
  );
  const at =
    (name: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}): void =>
      logger[name](withoutCredentials(fields), maskedUrl(message));
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Messages of client libraries may contain an address with its password. */
function withoutCredentials(fields: LogFields): LogFields {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === "string" ? maskedUrl(value) : value,
  ]);
  return Object.fromEntries(entries) as LogFields;
}
