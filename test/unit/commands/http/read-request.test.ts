import { describe, expect, it } from "vitest";
import { readRequest, requestParts } from "../../../../services/commands/http/read-request.ts";

type Arguments = Readonly<Record<string, unknown>>;

function read(args: Arguments) {
  return readRequest(requestParts(args, "method"));
}

function doesOf(args: Arguments): string {
  const reading = read(args);
  return reading.kind === "unclear" ? "unclear" : reading.does;
}

describe("an HTTP request", () => {
  it.each<Arguments>([
    { method: "GET", url: "https://api.example.com/users?payment_method=card" },
    { method: "head", url: "/users" },
    { method: "OPTIONS", url: "/users", headers: { Accept: "application/json" } },
    { method: "GET", url: "/users", body: null, json: {}, data: "" },
    { method: "GET", url: "/users", headers: [["Accept", "*/*"]], params: { q: "the_method" } },
  ])("is a read: %j", (args) => {
    expect(doesOf(args)).toBe("read");
  });

  it.each<Arguments>([
    { method: "POST", url: "/users", body: { method: "card" } },
    { method: "POST", url: "/rpc", body: '{"jsonrpc": "2.0", "method": "tools/call"}' },
    { method: "POST", url: "/notes", body: "the payment_method=card, and a._method() of mine" },
    { method: "GET", url: "/users", body: "a=1" },
    { method: "GET", url: "/users", json: { a: 1 } },
    { method: "TRACE", url: "/users" },
  ])("is a write: %j", (args) => {
    expect(doesOf(args)).toBe("write");
  });

  it.each<Arguments>([
    { url: "/users" },
    { method: "GET POST", url: "/users" },
    { method: "GET", url: "/users?_method=DELETE" },
    { method: "GET", url: "/users?%255fmethod=DELETE" },
    { method: "GET", url: "/users?_method[]=DELETE" },
    { method: "GET", url: "/users?a=1;a[_method]=DELETE" },
    { method: "GET", url: "/users", params: { method: "DELETE" } },
    { method: "GET", url: "/users", headers: { "X-Method": "DELETE" } },
    { method: "GET", url: "/users", headers: [{ name: "X-HTTP-Method-Override", value: "PUT" }] },
    { method: "GET", url: "/users", headers: "Accept: */*\r\nX-Method-Override: PUT" },
    { method: "GET", url: "/users", headers: { Accept: "*/*\r\nX-HTTP-Method: PUT" } },
    { method: "POST", url: "/users", body: { _method: "DELETE" } },
    { method: "POST", url: "/users", body: "a=1&_method=DELETE" },
    { method: "POST", url: "/users", body: '{"\\u005fmethod": "DELETE"}' },
    { method: "POST", url: "/users", body: 'form-data; name="_method"\r\n\r\nDELETE' },
  ])("is unclear where something may override the method: %j", (args) => {
    expect(doesOf(args)).toBe("unclear");
  });
});

describe("host and path of an HTTP request", () => {
  it.each([
    ["https://API.example.com:443/a/../b//c/?q=1#x", "api.example.com", "/b/c"],
    ["http://localhost:8080", "localhost:8080", "/"],
    ["http://example.com./a", "example.com", "/a"],
    ["//example.com/a", "example.com", "/a"],
    ["/a/%252e%252e/b%2fc", "", "/b/c"],
    ["http://127.0.0.1/a", "127.0.0.1", "/a"],
    ["http://[::1]:3000/a", "[::1]:3000", "/a"],
  ])("%s", (url, host, path) => {
    expect(read({ method: "GET", url })).toMatchObject({ kind: "request", host, path });
  });

  it.each([
    "http://user@example.com/a",
    "http:/example.com/a",
    "///example.com/a",
    "ftp://example.com/a",
    "example.com/a",
    "http://2130706433/a",
    "http://0x7f.1/a",
    "http://ex%61mple.com/a",
    "http://example.com\\@evil.example/a",
    "http://example.com/a b",
    "http://example.com/a\t/b",
    "/public/..;/admin",
    "/a%5cb",
  ])("are unclear where clients and servers differ: %s", (url) => {
    expect(doesOf({ method: "GET", url })).toBe("unclear");
  });
});
