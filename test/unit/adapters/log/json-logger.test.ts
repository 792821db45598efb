import { expect, test } from "vitest";
import { createJsonLogger } from "../../../../services/adapters/log/json-logger.ts";

function setUp(level: "debug" | "warn" | "silent" = "debug") {
  const lines: Record<string, unknown>[] = [];
  const sink = { write: (line: string) => lines.push(JSON.parse(line)) };
  return { lines, logger: createJsonLogger(sink, level, { service: "gate" }) };
}

test("writes one JSON object a line with the service, the fields and the message", () => {
  const { lines, logger } = setUp();
  logger.info("a call was run", { conversationId: "c1", callId: "7", partition: 3, message: "ok" });
  expect(lines).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: "gate",
      conversationId: "c1",
      callId: "7",
      partition: 3,
      message: "ok",
      msg: "a call was run",
    },
  ]);
});

test("drops messages below the level", () => {
  const { lines, logger } = setUp("warn");
  logger.debug("one");
  logger.info("two");
  logger.warn("three");
  logger.error("four");
  expect(lines.map(({ level }) => level)).toEqual(["warn", "error"]);
  const quiet = setUp("silent");
  quiet.logger.error("five");
  expect(quiet.lines).toEqual([]);
});

test("masks secrets in every line", () => {
  const { lines, logger } = setUp();
  logger.info("cannot reach redis://me:hidden@one:1", {
    password: "hidden",
    idempotencyKey: "hidden",
    arguments: "hidden",
    message: "connect to https://me:hidden@two:1/path and amqp://hidden@three failed",
  });
  expect(JSON.stringify(lines)).not.toContain("hidden");
  expect(lines).toMatchObject([
    { message: "connect to https://********@two:1/path and amqp://********@three failed" },
  ]);
});
