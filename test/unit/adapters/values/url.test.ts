import { describe, expect, it } from "vitest";
import { url } from "../../../../services/adapters/values/url.ts";

describe("url", () => {
  it("normalizes spellings of one address, and retains significant differences", () => {
    const spellings = [
      "https://example.com/a",
      "HTTPS://EXAMPLE.COM:443/a",
      "https://example.com/b/../a",
      "https://ex\u0061mple.com/\ta",
      "https:\\\\example.com\\a",
    ];
    expect(new Set(spellings.map(url))).toEqual(new Set(["https://example.com/a"]));
    const others = ["https://example.com/a/", "https://example.com/a?", "https://u@example.com/a"];
    expect(new Set(others.map(url))).not.toContain("https://example.com/a");
  });

  it("reads numbers as addresses, as browsers do", () => {
    expect(url("http://0x7f.1/")).toBe("http://127.0.0.1/");
    expect(url("http://2130706433/")).toBe("http://127.0.0.1/");
  });

  it.each(["a", "//example.com", "?a", "http://[::1", "http://%00/"])("refuses %j", (text) => {
    expect(url(text)).toBeNull();
  });
});
