import { describe, expect, test } from "vitest";
import {
  looksFailedByDefault,
  looksTransient,
} from "../../../../services/core/policy/failure-text.ts";

describe("an output is a failure in disguise", () => {
  test.each([
    '{"error":"not found"}',
    '{ "error" : {"code": 5} }',
    '{"Error": "x"}',
    "Error: no such file",
    "ERROR",
    "ValueError: bad date",
    "Traceback (most recent call last)",
    "  \n error while reading",
    "error: declined",
    '{"error":0.5}',
    '{"error":{"code":3,"message":"declined"}}',
    '{"error":"nonesuch"}',
    '{"error":"ok not"}',
  ])("%j", (output) => {
    expect(looksFailedByDefault(output)).toBe(true);
  });

  test.each([
    '{"error":null,"id":1}',
    '{"error": null, "id": 1}',
    '{ "error" :  false }',
    '{"error":\n ""}',
    '{"error": {}}',
    '{"error": [ ]}',
    '{"error":0,"charge_id":"c1"}',
    '{"error": "0"}',
    '{"error":"none","id":1}',
    '{"error":"OK"}',
    '{"error":"success"}',
    '{"error":"no error"}',
    '{"error":{"code":0,"message":"OK"},"id":1}',
    '{"error":{ "status" : "ok" }}',
    "Error-free: charged 100",
    "errors_found: 0",
    '{"id":1,"error":"of a line inside"}',
    "errors: none",
    "No error was found",
    "",
  ])("not %j", (output) => {
    expect(looksFailedByDefault(output)).toBe(false);
  });
});

describe("a failure may pass, or may have taken effect", () => {
  test.each<[string | null, string]>([
    ["ECONNRESET", "x"],
    ["EPIPE", "x"],
    ["ECONNABORTED", "x"],
    ["ETIMEDOUT", "x"],
    ["ESOCKETTIMEDOUT", "x"],
    ["UND_ERR_SOCKET", "x"],
    ["ABORT_ERR", "x"],
    ["ERR_STREAM_PREMATURE_CLOSE", "x"],
    ["DEADLINE_EXCEEDED", "x"],
    ["UNAVAILABLE", "x"],
    ["timeout", "x"],
    ["408", "x"],
    ["429", "x"],
    ["503", "x"],
    ["ERR_BAD_RESPONSE", "Request failed with status code 500"],
    [null, "500 Server Error: for url"],
    [null, "HTTP 502"],
    [null, "HTTP/1.1 503"],
    [null, '{"status": 504}'],
    [null, "error 429"],
    [null, "read ECONNRESET"],
    [null, "write EPIPE"],
    [null, "connect ETIMEDOUT 10.0.0.1:443"],
    [null, "ECONNABORTED"],
    [null, "socket hang up"],
    [null, "fetch failed"],
    [null, "Network Error"],
    [null, "Premature close"],
    [null, "other side closed"],
    [null, "Broken pipe"],
    [null, "Connection reset by peer"],
    [null, "the connection was closed"],
    [null, "This operation was aborted"],
    [null, "Abort"],
    [null, "context deadline exceeded"],
    [null, "4 DEADLINE_EXCEEDED"],
    [null, "Request timed out"],
    [null, "Timeout"],
    [null, "time out"],
    [null, "Gateway Timeout"],
    [null, "gateway time-out"],
    [null, "Too Many Requests"],
    [null, "Service Unavailable"],
    [null, "Bad Gateway"],
    [null, "Internal Server Error"],
    [null, "please try again later"],
    [null, "temporarily out of order"],
  ])("%s %j", (code, message) => {
    expect(looksTransient(code, message)).toBe(true);
  });

  test.each<[string | null, string]>([
    ["card_declined", "order 500: card declined"],
    ["402", "declined"],
    ["4290", "x"],
    ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:443"],
    ["ENOTFOUND", "getaddrinfo ENOTFOUND pay.example"],
    [null, "Cannot charge 429.00: the limit is 400.00"],
    [null, "Error: 500.00 is above the limit"],
    [null, "error 5001"],
    [null, "order 503 is paid"],
    [null, "abortive attempt"],
    [null, "connections are closed on sundays"],
    [null, ""],
  ])("not %s %j", (code, message) => {
    expect(looksTransient(code, message)).toBe(false);
  });
});

test("two thousand characters are looked at", () => {
  for (const [looks, word] of [
    [looksFailedByDefault, "error"],
    [(text: string) => looksTransient(null, text), "timeout"],
  ] as const) {
    const within = " ".repeat(2_000 - word.length) + word;
    expect(looks(within)).toBe(true);
    expect(looks(`${within} goes on`)).toBe(true);
    expect(looks(` ${within} goes on`)).toBe(false);
  }
});
