import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MASKS, maskError, maskVolatile } from "../../../../services/core/decide/mask-volatile.ts";

describe("the masks of volatile parts", () => {
  test.each(MASKS.map(({ name, example }) => [name, example]))("cover a %s", (_name, example) => {
    expect(maskVolatile(`state: ${example}, ready`)).not.toBeNull();
  });

  test("are those of docs/engine.md", () => {
    const page = readFileSync("docs/engine.md", "utf8");
    for (const { name, example } of MASKS) expect(page).toContain(`| ${name} | \`${example}\` |`);
  });

  test.each([
    ["busy since 10:00:01", "busy since 10:00:07"],
    ["3 passed in 1.23s", "3 passed in 0.9s"],
    ["at 2026-11-26T16:40:05.120Z nothing", "at 2026-11-26 16:41:00+01:00 nothing"],
    ['{"state":"busy","took_ms":12}', '{"state":"busy","took_ms":4}'],
    ["E1 (request id: req_8f31)", "E1 (request id: req_0a77)"],
    ["text (1/1 lines shown, read 2 times)", "text (1/1 lines shown, read 14 times)"],
    ["refused by 127.0.0.1:53412", "refused by 127.0.0.1:53901"],
    ["at <Object 0x7f3a90>", "at <Object 0x7f3b10>"],
    ['{"state":"waiting","age_s":8}', '{"state":"waiting","age_s":16}'],
    ['{"n":0,"historyId":"88120400"}', '{"n":0,"historyId":"88120403"}'],
    ['{"n":0,"search_id":"s-40024"}', '{"n":0,"search_id":"s-40027"}'],
    ['{"error":"no","trace":"tr-15838"}', '{"error":"no","trace":"tr-1587a"}'],
    ['{"n":0,"etag":"W/3f2a"}', '{"n":0,"etag":"W/77b0"}'],
    ["[12:00:07] no role (pid 4100)", "[12:09:07] no role (pid 4117)"],
    ['{"n":0,"retry_after_seconds":3}', '{"n":0,"retry_after_seconds":4}'],
    ["id 0b54d2a8-8c1f-4f4e-9a3e-2b8f5c6d7e8f", "id 1c54d2a8-8c1f-4f4e-9a3e-2b8f5c6d7e8f"],
  ])("make %j and %j one", (one, other) => {
    expect(maskVolatile(one)).toBe(maskVolatile(other));
    expect(maskVolatile(one)).not.toBeNull();
  });

  test.each([
    ["page 2", "page 3"],
    ["x = 0", "x = 1"],
    ["line 12 of 40", "line 13 of 40"],
    ["12 passed, 1 failed", "13 passed"],
    ["progress 10 % after 3 s", "progress 20 % after 3 s"],
    ["commit 3a5f9c21", "commit 77b01d2e"],
    ["due 2026-11-26", "due 2026-11-27"],
    ["order 1764 shipped", "order 1765 shipped"],
    ['{"total": 12}', '{"total": 13}'],
    ['{"pages": 12}', '{"pages": 13}'],
    ['{"order_id": "SO-4711"}', '{"order_id": "SO-4712"}'],
    ["pids 12", "pids 13"],
  ])("keep %j and %j apart", (one, other) => {
    expect(maskVolatile(one) ?? one).not.toBe(maskVolatile(other) ?? other);
  });

  test.each([
    "16:40:05",
    "1764175205120",
    " 0b54d2a8-8c1f-4f4e-9a3e-2b8f5c6d7e8f\n",
    "12 ms",
    "none",
  ])("leave %j, which is the answer or has nothing to mask", (text) => {
    expect(maskVolatile(text)).toBeNull();
  });
});

describe("the masks of errors", () => {
  test.each([
    ['{"error":"BUDGET_EXCEEDED: 576 > 44"}', '{"error":"BUDGET_EXCEEDED: 96.5 > 44"}'],
    ["MEDIA_TOO_LARGE 214 MB", "MEDIA_TOO_LARGE 215 MB"],
  ])("make %j and %j one, since a word names the error", (one, other) => {
    expect(maskError(one, null)).toBe(maskError(other, null));
  });

  test.each([
    ["BUDGET_EXCEEDED: 5", "QUOTA_EXCEEDED: 5"],
    ["line 12 has no value", "line 13 has no value"],
    ["ERROR 12", "ERROR 13"],
  ])("keep %j and %j apart", (one, other) => {
    expect(maskError(one, null) ?? one).not.toBe(maskError(other, null) ?? other);
  });

  test("leave out what the error repeats of the arguments", () => {
    const mask = (agent: string) =>
      maskError(`unknown agent '${agent}'. Known: writer`, JSON.stringify({ agent }));
    expect(mask("legal-review")).toBe(mask("LegalReview"));
  });
});
