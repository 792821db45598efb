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
    '{"error":{"code":0.5}}',
    '{"error":{"code":0,"message":"Permission denied"}}',
    '{"error":{"status":"ok","detail":{"why":"x"}}}',
    '{"error":{"code":0,"message":"okay?"}}',
    '{"error":{"message":""}}',
    '{"error":{"retryable":false}}',
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
    '{"error":{"code":0}}',
    '{"error":{"code":"0","message":null,"details":[]}}',
    '{"error":{"message":"", "code": 0 },"id":1}',
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
    [null, "Got 502 from upstream"],
    [null, "upstream returned 500"],
    [null, "server answered with 503"],
    [null, "the backend responded with a 500"],
    [null, "axios: 502"],
    [null, "payment gateway: 504 after 30s"],
    [null, "cloudflare said 524"],
    [null, "500 from the server"],
    [null, "500: {}"],
    [null, "500"],
    [null, "Internal error (500)"],
    [null, "order 7 failed: 500 Internal error"],
    // A number alone, where nobody says of what it is: it may be one.
    [null, "order 503 is paid"],
    [null, "Remote end closed connection without response"],
    [null, "server closed the connection unexpectedly"],
    [null, "peer closed its connection"],
    [null, "connection forcibly closed"],
    [null, "unexpected EOF"],
    [null, 'Post "https://pay.example/charge": EOF'],
    [null, "context canceled"],
    [null, "AbortError"],
    [null, "ReadTimeout"],
    [null, '{"error":"timeout"}'],
    ["InternalServerError", "x"],
    ["internal_server_error", "x"],
    ["APITimeoutError", "x"],
    ["AbortError", "x"],
    ["520", "x"],
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
    [null, "order 500: card declined"],
    [null, "invoice 500 not found"],
    [null, "500 rows are invalid"],
    [null, "Cannot charge $502: declined"],
    [null, "Cannot charge 1,502 or 504.50 or 502,000"],
    [null, "invoice #503 is paid, v502 is not"],
    [null, "connect ECONNREFUSED 10.0.0.5:502"],
    [null, "Invalid argument `timeout`"],
    [null, "unknown option --timeout"],
    [null, 'invalid parameter "timeout"'],
    [null, "unexpected EOF while looking for matching `\"'"],
    ["525", "x"],
    ["timeouts", "x"],
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
