import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRequest, requestParts } from "../../../services/commands/http/read-request.ts";

function doesOf(args: Readonly<Record<string, unknown>>): string {
  const reading = readRequest(requestParts(args, "method"));
  return reading.kind === "unclear" ? "unclear" : reading.does;
}

const safe = fc.constantFrom("GET", "HEAD", "OPTIONS", "get");

/** A name of which some letters are encoded up to three times. */
const encoded = (name: string) =>
  fc
    .array(fc.nat(3), { minLength: name.length, maxLength: name.length })
    .map((times) => [...name].map((letter, at) => encodeTimes(letter, times[at] ?? 0)).join(""));

function encodeTimes(letter: string, times: number): string {
  if (times === 0) return letter;
  const code = `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;
  return code.replaceAll("%", `%${"25".repeat(times - 1)}`);
}

const parameter = fc
  .constantFrom("_method", "_METHOD", "_method[]", "form[_method]", ".method", "method")
  .chain(encoded);

const header = fc
  .tuple(fc.stringMatching(/^[A-Za-z-]{0,8}$/), fc.stringMatching(/^[A-Za-z-]{0,8}$/))
  .map(([before, after]) => `${before}Method${after}`);

describe("an HTTP request", () => {
  it("is no read with a parameter that overrides the method, however it is encoded", () => {
    fc.assert(
      fc.property(safe, parameter, fc.constantFrom("?", "?a=1&", "?a;"), (method, name, before) => {
        expect(doesOf({ method, url: `/users${before}${name}=DELETE` })).toBe("unclear");
      }),
      { numRuns: 2_000 },
    );
  });

  it("is no read with a header whose name contains `method`, in whatever form headers come", () => {
    const shape = fc.constantFrom(
      (name: string): unknown => ({ [name]: "DELETE" }),
      (name: string): unknown => [[name, "DELETE"]],
      (name: string): unknown => [{ key: name, value: "DELETE" }],
      (name: string): unknown => `Accept: */*\r\n${name}: DELETE`,
    );
    fc.assert(
      fc.property(safe, header, shape, (method, name, make) => {
        expect(doesOf({ method, url: "/users", headers: make(name) })).toBe("unclear");
      }),
    );
  });

  it("is no read with a body, and has no known method with `_method` anywhere in it", () => {
    const body = fc.oneof(fc.string({ minLength: 1 }), fc.array(fc.jsonValue(), { minLength: 1 }));
    fc.assert(
      fc.property(safe, body, (method, value) => {
        expect(doesOf({ method, url: "/users", body: value })).not.toBe("read");
        expect(doesOf({ method: "POST", url: "/users", body: [value, { _method: "PUT" }] })).toBe(
          "unclear",
        );
      }),
    );
  });

  it("has a path without dots and empty segments, whatever the text", () => {
    const piece = fc.constantFrom("a", "/", ".", "..", "%2e", "%252e", "%2f", "%", "?", "#", "//");
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const reading = readRequest(
          requestParts({ method: "GET", url: `/${pieces.join("")}` }, "method"),
        );
        if (reading.kind === "unclear") return;
        expect(reading.path).toMatch(/^\//);
        expect(reading.path.slice(1).split("/").slice(0, -1)).not.toContain("");
        expect(reading.path.split("/")).not.toContain("..");
      }),
      { numRuns: 2_000 },
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.anything(),
        fc.anything(),
        (method, url, headers, body) => {
          const parts = { method, url, headers, body, rest: [headers, body] };
          expect(["request", "unclear"]).toContain(readRequest(parts).kind);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each(["%25", "%", "_method", "_", "_.", "[", "/", "/a/..", "\\u00", "&", ";", "name="])(
    "of 64 KB made of %j is read to its end",
    (piece) => {
      const text = piece.repeat(Math.ceil(65_536 / piece.length));
      for (const url of [`/x?${text}`, `/x${text}`, text]) {
        const parts = {
          method: "GET",
          url,
          headers: { a: text },
          body: text,
          rest: { [text]: text },
        };
        expect(["request", "unclear"]).toContain(readRequest(parts).kind);
      }
    },
  );
});
