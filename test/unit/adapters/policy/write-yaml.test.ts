import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { formatYaml } from "../../../../services/adapters/policy/write-yaml.ts";

describe("the layout of a policy", () => {
  it("has its blocks in the order of the reference, and its comments where they were", () => {
    const text = [
      "# of the file",
      "tool_schemas:   {a: {read_only:   true}} # of the tools",
      "",
      "# of the preset",
      "preset:    strict",
      "zzz: 1",
      "",
    ].join("\n");
    expect(formatYaml(text)).toBe(
      [
        "# of the file",
        "",
        "# of the preset",
        "preset: strict",
        "tool_schemas: { a: { read_only: true } } # of the tools",
        "zzz: 1",
        "",
      ].join("\n"),
    );
  });

  it("sorts inside of `policy_engine` too", () => {
    expect(formatYaml("policy_engine:\n    tools: {}\n    preset: observe\n")).toBe(
      "policy_engine:\n  preset: observe\n  tools: {}\n",
    );
  });

  it.each(["a: [", "- a", "just text", ""])("leaves alone what is no policy: %j", (text) => {
    expect(formatYaml(text)).toBeNull();
  });

  const templates = new URL("../../../../infra/policies/templates/", import.meta.url);
  // Cases for `policy test` lie beside the policies.
  const policies = readdirSync(templates).filter((name) => !name.endsWith(".test.yaml"));
  it.each(policies)("is that of %s from the start", (name) => {
    const text = readFileSync(new URL(name, templates), "utf8");
    expect(formatYaml(text)).toBe(text);
  });

  it.each(policies)("keeps what %s means, however it was laid out", (name) => {
    const text = readFileSync(new URL(name, templates), "utf8");
    const inOneLine = JSON.stringify(parse(text));
    const digestOf = (content: string) => {
      const loaded = loadPolicy([{ name, text: content }]);
      return loaded.ok ? loaded.digest : loaded.problems;
    };
    const formatted = formatYaml(inOneLine) ?? "";
    expect(digestOf(formatted)).toBe(digestOf(text));
    expect(formatYaml(formatted)).toBe(formatted);
  });
});
