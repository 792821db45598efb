import { expect, test } from "vitest";
import { createStreamLogger } from "../../../../services/adapters/log/stream-logger.ts";

test("writes one line for each message with its fields, whatever they contain", () => {
  const lines: string[] = [];
  const logger = createStreamLogger({ write: (text: string) => lines.push(text) }, "debug");
  logger.info("a partition was restored", { partition: 0, source: "journal", ok: true });
  logger.error("stopped", { message: 'two\nlines "quoted"' });
  expect(lines).toEqual([
    "info: a partition was restored partition=0 source=journal ok=true\n",
    'error: stopped message="two\\nlines \\"quoted\\""\n',
  ]);
});

test("drops messages below the level", () => {
  const lines: string[] = [];
  const sink = { write: (text: string) => lines.push(text) };
  for (const level of ["debug", "info", "warn", "error", "silent"] as const) {
    const logger = createStreamLogger(sink, level);
    for (const name of ["debug", "info", "warn", "error"] as const) logger[name](level);
  }
  expect(lines.map((line) => line.trim())).toEqual([
    "debug: debug",
    "info: debug",
    "warn: debug",
    "error: debug",
    "info: info",
    "warn: info",
    "error: info",
    "warn: warn",
    "error: warn",
    "error: error",
  ]);
});
