import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../../../services/adapters/policy/load.ts";
import { formatYaml } from "../../../../../services/adapters/policy/write-yaml.ts";
import {
  type ImportFormat,
  type ImportOptions,
  importTools,
} from "../../../../../services/cli/policy/import/import-tools.ts";
import type { PolicyDocument } from "../../../../../services/core/policy/document.ts";
import { formatProblem } from "../../../../../services/core/policy/problem.ts";
import { sharedData } from "../../../../support/shared-data.ts";

type Imported = { readonly document: PolicyDocument; readonly notes: readonly string[] };

function imported(json: unknown, format: ImportFormat, options: ImportOptions = {}): Imported {
  const result = importTools([{ name: "tools.json", json }], format, options);
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join("\n"));
  const loaded = loadPolicy([{ name: "policy.yaml", text: result.yaml }]);
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));
  const notes = result.notes.map(({ tool, path, message }) => `${tool} ${path} ${message}`);
  return { document: loaded.document, notes };
}

/** The policy's entry of the only tool. */
function entry(tool: object, format: ImportFormat = "tools", options: ImportOptions = {}) {
  const { document, notes } = imported([{ name: "a", ...tool }], format, options);
  return { tool: document.tool_schemas?.["a"], notes };
}

describe("the imported text", () => {
  it("starts with the schema line for editors", () => {
    const result = importTools([{ name: "t", json: [{ name: "a" }] }], "mcp", {
      schemaPath: "./s.json",
    });
    expect(result.ok && result.yaml.split("\n", 3)).toEqual([
      "# yaml-language-server: $schema=./s.json",
      "",
      "policy_engine:",
    ]);
  });

  it("has the layout of `policy fmt`", () => {
    const inputSchema = { type: "object", properties: { q: { enum: ["a", "b"] } } };
    const annotations = { readOnlyHint: true };
    const json = {
      tools: [
        { name: "a", inputSchema, annotations },
        { name: "b", inputSchema },
      ],
    };
    const result = importTools([{ name: "t", json }], "mcp", { trusted: true });
    expect(result.ok && result.yaml).toContain("read_only: true");
    expect(result.ok && formatYaml(result.yaml)).toBe(result.ok && result.yaml);
  });

  it("rejects a file of another format with the problem", () => {
    const result = importTools([{ name: "t.json", json: 3 }], "mcp");
    expect(result.ok ? [] : result.problems).toMatchObject([
      { file: "t.json", message: "expected the result of `tools/list`: a map with `tools`" },
    ]);
  });
});

/** The problems as a user reads them. */
function problems(json: unknown, format: ImportFormat): readonly string[] {
  const result = importTools([{ name: "t.json", json }], format);
  return result.ok ? [] : result.problems.map(formatProblem);
}

describe("a file of another format", () => {
  const inputSchema = { type: "object" };
  const mcp = { name: "a", inputSchema, annotations: { destructiveHint: true } };
  const anthropic = { name: "a", input_schema: inputSchema };
  const chat = { type: "function", function: { name: "a", parameters: inputSchema } };
  const responses = { type: "function", name: "a", parameters: inputSchema };
  const recorded = { name: "a", schema: inputSchema, readOnly: false };
  const withoutSchema = { type: "function", name: "a" };
  const nested = { type: "function", function: { name: "a", inputSchema } };

  it.each([
    ["mcp", anthropic, "`a` has `input_schema` and no `inputSchema`: it looks like anthropic"],
    ["mcp", chat, "`a` has `function` and no `inputSchema`: it looks like openai"],
    ["mcp", responses, "`a` has `parameters` and no `inputSchema`: it looks like openai"],
    ["mcp", recorded, "`a` has `schema` and no `inputSchema`: it looks like tools"],
    ["anthropic", mcp, "`a` has `inputSchema` and no `input_schema`: it looks like mcp"],
    ["anthropic", chat, "`a` has `function` and no `input_schema`: it looks like openai"],
    ["anthropic", responses, "`a` has `parameters` and no `input_schema`: it looks like openai"],
    [
      "anthropic",
      withoutSchema,
      "`a` has `type: function` and no `input_schema`: it looks like openai",
    ],
    ["openai", mcp, "`a` has `inputSchema` and no `parameters`: it looks like mcp"],
    ["openai", nested, "`a` has `inputSchema` and no `parameters`: it looks like mcp"],
    ["openai", anthropic, "`a` has `input_schema` and no `parameters`: it looks like anthropic"],
    ["tools", mcp, "`a` has `inputSchema` and no `schema`: it looks like mcp"],
    ["tools", anthropic, "`a` has `input_schema` and no `schema`: it looks like anthropic"],
    ["tools", chat, "`a` has `function` and no `schema`: it looks like openai"],
  ] as const)("is rejected as %s: %j", (format, tool, message) => {
    const last = `t.json: ${message}, not ${format}; check the file and --format`;
    expect(problems([{ name: "first" }, tool], format)).toEqual([last]);
  });

  it("is not assumed if an entry has this format's schema beside another's key", () => {
    const tool = { name: "a", inputSchema, schema: inputSchema, parameters: {} };
    for (const format of ["mcp", "tools", "openai"] as const) {
      expect(problems([tool], format)).toEqual([]);
    }
  });
});

describe("a policy without tools", () => {
  const none = "t.json: no tool is left for the policy";

  it.each([
    ["mcp", [], ""],
    ["openai", { tools: [] }, ""],
    ["openapi", { openapi: "3.1.0", paths: {} }, ""],
    ["tools", [{}], " (#0: has no name and is left out)"],
    [
      "tools",
      [{ name: "a\nb" }],
      " (a b: is not a name that a call can have: left out, so it is refused)",
    ],
  ] as const)("is not written: %s %j", (format, json, why) => {
    expect(problems(json, format)).toEqual([`${none}${why}; check the file and --format`]);
  });
});

describe("imported tools", () => {
  it.each([
    [{ readOnly: true, mutates: null }, { read_only: true }],
    [
      { readOnly: false, mutates: "order/{id}" },
      {
        read_only: false,
        effects: [{ resource: "order/{id}", kind: "update", exclusive: false }],
      },
    ],
    [{ readOnly: null, mutates: null }, {}],
    [
      { readOnly: true, mutates: "inbox" },
      { read_only: false, effects: [{ resource: "inbox", kind: "update", exclusive: false }] },
    ],
  ])("become %j", (tool, expected) => {
    expect(entry(tool).tool).toEqual(expected);
  });

  it("only warn, because recorded schemas are documentation", () => {
    const { document } = imported([{ name: "a" }], "tools");
    expect(document.checks).toEqual({ invalid_arguments: "warn", unknown_tool: "warn" });
  });

  it("are classified by their names, unless only what is declared counts", () => {
    const tools = [{ name: "get_order", readOnly: null }];
    expect(imported(tools, "tools").document.tool_schemas).toEqual({
      get_order: { read_only: true },
    });
    const declared = imported(tools, "tools", { declaredOnly: true });
    expect(declared.document.tool_schemas).toEqual({ get_order: {} });
    expect(declared.notes).toEqual([
      "get_order $ may be a read or a write: treated as a write; set `read_only` if it is a read",
    ]);
  });

  it("count as a person says where the definition leaves it open", () => {
    const reads = new Map([["a", true]]);
    expect(entry({}, "mcp").tool).toEqual({});
    expect(entry({}, "mcp", { reads }).tool).toEqual({ read_only: true });
  });

  const needs = (name: string, property: object, more: object = {}) => ({
    type: "object",
    properties: { [name]: property, ...more },
    required: [name],
  });
  const text = { type: "string" };

  it.each([
    [needs("command", text), { language: "shell" }],
    [needs("command", text, { timeout: { type: "number" } }), { language: "shell" }],
    [needs("sql", text), { language: "sql", argument: "sql" }],
    [needs("command", { type: "string", enum: ["view", "edit"] }), undefined],
    [needs("command", { type: "array", items: text }), undefined],
    [{ ...needs("command", text, { path: text }), required: ["command", "path"] }, undefined],
    [{ type: "object", properties: { command: text } }, undefined],
    [needs("query", text), undefined],
  ])("are classified by the program in their only required argument: %j", (schema, expected) => {
    expect(entry({ readOnly: null, schema }).tool?.commands).toEqual(expected);
    expect(entry({ readOnly: false, schema }).tool?.commands).toBeUndefined();
    expect(entry({ readOnly: true, schema }).tool?.commands).toBeUndefined();
  });

  it("get an effect whose placeholders are arguments", () => {
    const schema = { type: "object", properties: { text: { type: "string" } } };
    expect(entry({ readOnly: false, mutates: "memory:{key}", schema }).notes).toEqual([
      "a $.mutates `{key}` is no argument: the effect counts as undeclared",
    ]);
  });
});

describe("several definitions of one name", () => {
  const text = { type: "object", properties: { text: { type: "string" } } };
  const key = { type: "object", properties: { key: { $ref: "#/$defs/k" } }, $defs: { k: {} } };

  it("are merged, with what holds for all of them", () => {
    const { document, notes } = imported(
      [
        { name: "a", readOnly: false, mutates: "memory", schema: key },
        { name: "a", readOnly: false, mutates: "memory", schema: text },
        { name: "a", readOnly: false, mutates: "memory", schema: text },
      ],
      "tools",
    );
    expect(document.tool_schemas?.["a"]).toEqual({
      read_only: false,
      effects: [{ resource: "memory", kind: "update", exclusive: false }],
      input_schema: {
        type: "object",
        anyOf: [{ ...key, properties: { key: { $ref: "#/anyOf/0/$defs/k" } } }, text],
      },
    });
    expect(notes).toEqual(["a $ has 3 definitions, joined into one entry"]);
  });

  it.each([
    [[true, true], { read_only: true }],
    [[true, false], { read_only: false }],
    [[true, null], {}],
    [[null, false], { read_only: false }],
  ])("are merged with read-only %j", (values, expected) => {
    const tools = values.map((readOnly) => ({ name: "a", readOnly }));
    expect(imported(tools, "tools").document.tool_schemas?.["a"]).toEqual(expected);
  });

  it("keep only effects that all share, and no schema if one has none", () => {
    const tools = [
      { name: "a", readOnly: false, mutates: "x", schema: text },
      { name: "a", readOnly: false, mutates: "y" },
    ];
    expect(imported(tools, "tools").document.tool_schemas?.["a"]).toEqual({ read_only: false });
  });
});

describe("mcp", () => {
  const answer = (tool: object) => ({
    tools: [{ name: "a", inputSchema: { type: "object" }, ...tool }],
  });
  const schema = { input_schema: { type: "object" } };

  it.each([
    [{ readOnlyHint: true }, false, schema],
    [{ readOnlyHint: true }, true, { read_only: true, ...schema }],
    [{ readOnlyHint: false }, false, { read_only: false, ...schema }],
    [{ destructiveHint: true }, false, { risk_level: "HIGH", ...schema }],
    [{ destructiveHint: false, idempotentHint: true }, true, schema],
  ])("imports %j of a server with trust %s", (annotations, trusted, expected) => {
    const { document } = imported(answer({ annotations }), "mcp", { trusted });
    expect(document.tool_schemas?.["a"]).toEqual(expected);
    // Only recorded worlds are let through with arguments that do not fit.
    expect(document.checks ?? {}).not.toHaveProperty("invalid_arguments");
  });

  it("notes an untrusted hint and missing pages", () => {
    const annotations = { readOnlyHint: true };
    const json = { jsonrpc: "2.0", id: 1, result: { ...answer({ annotations }), nextCursor: "x" } };
    expect(imported(json, "mcp").notes).toEqual([
      "* $.nextCursor more pages follow this one; import them too",
      "a $.annotations.readOnlyHint is not trusted; pass --trusted if it is",
      "a $ may be a read or a write: treated as a write; set `read_only` if it is a read",
    ]);
  });
});

describe("openai and anthropic", () => {
  const parameters = { type: "object", properties: { q: { type: "string" } } };

  it.each([
    ["openai", [{ type: "function", function: { name: "a", parameters } }]],
    ["openai", { tools: [{ type: "function", name: "a", parameters, strict: true }] }],
    ["openai", { functions: [{ name: "a", parameters }] }],
    ["anthropic", { tools: [{ name: "a", input_schema: parameters }] }],
    ["anthropic", [{ type: "custom", name: "a", input_schema: parameters }]],
  ] as const)("imports %s", (format, json) => {
    expect(imported(json, format).document.tool_schemas).toEqual({
      a: { input_schema: parameters },
    });
  });

  it.each([
    ["openai", { type: "web_search" }, "web_search $ is not a function and is left out"],
    [
      "anthropic",
      { type: "bash_20250124", name: "bash" },
      "bash $.type is a tool that the service defines; it is left out",
    ],
  ] as const)("leaves out tools of %s that the service runs itself", (format, tool, note) => {
    const { document, notes } = imported([tool, { name: "own" }], format);
    expect(document.tool_schemas).toEqual({ own: {} });
    expect(notes[0]).toBe(note);
  });
});

describe("tool names", () => {
  it.each(["naïve", "a\nb", "x".repeat(257)])("that no call can have are left out: %j", (name) => {
    const { document, notes } = imported([{ name, readOnly: true }, { name: "own" }], "tools");
    expect(document.tool_schemas).toEqual({ own: {} });
    expect(notes[0]).toContain("is not a name that a call can have");
  });
});

const recorded = sharedData("trajectories");

describe.skipIf(!recorded.available)("recorded worlds", () => {
  const files = recorded.available
    ? readdirSync(recorded.path).filter((name) => name.endsWith(".tools.json"))
    : [];

  it("are all present", () => {
    expect(files).toHaveLength(7);
  });

  it.each(files)("become valid policies with every tool: %s", (name) => {
    const json: readonly { readonly name: string; readonly readOnly: boolean | null }[] =
      JSON.parse(readFileSync(join(recorded.path, name), "utf8"));
    const { document } = imported(json, "tools");
    const names = new Set(json.map((tool) => tool.name));
    expect(new Set(Object.keys(document.tool_schemas ?? {}))).toEqual(names);
    for (const tool of names) {
      const all = json.filter((other) => other.name === tool);
      const isRead = all.every(({ readOnly }) => readOnly === true);
      expect(document.tool_schemas?.[tool]?.read_only === true).toBe(isRead);
      expect(document.tool_schemas?.[tool]?.input_schema).toBeDefined();
    }
  });
});

describe("what is guessed of all tools", () => {
  it("refuses runs of failures", () => {
    const tool = { name: "refund_order", inputSchema: { type: "object" } };
    const { document } = imported({ tools: [tool] }, "mcp");
    expect(document.checks).toEqual({ failure_run: "enforce" });
  });
});
