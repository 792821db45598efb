import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { formatYaml } from "../../../../services/adapters/policy/write-yaml.ts";

describe("the layout of a policy", () => {
  it("has the blocks in the order of the reference, and the comments at their positions", () => {
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

  it("applies inside `policy_engine` too", () => {
    expect(formatYaml("policy_engine:\n    tools: {}\n    preset: observe\n")).toBe(
      "policy_engine:\n  preset: observe\n  tools: {}\n",
    );
  });

  it.each(["a: [", "- a", "just text", ""])(
    "is not applied to text that is no policy: %j",
    (text) => {
      expect(formatYaml(text)).toBeNull();
    },
  );

  const templates = new URL("../../../../infra/policies/templates/", import.meta.url);
  // Cases for `policy test` are in the same folder as the policies.
  const policies = readdirSync(templates).filter((name) => !name.endsWith(".test.yaml"));
  it.each(policies)("is already that of %s", (name) => {
    const text = readFileSync(new URL(name, templates), "utf8");
    expect(formatYaml(text)).toBe(text);
  });

  it.each(policies)("does not change the meaning of %s", (name) => {
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
