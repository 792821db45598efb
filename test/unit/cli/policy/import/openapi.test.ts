import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../../../services/adapters/policy/load.ts";
import { importTools } from "../../../../../services/cli/policy/import/import-tools.ts";
import type { PolicyDocument } from "../../../../../services/core/policy/document.ts";

const NO_TOOLS: NonNullable<PolicyDocument["tool_schemas"]> = {};

function imported(json: unknown) {
  const result = importTools([{ name: "api.json", json }], "openapi");
  if (!result.ok) return { tools: NO_TOOLS, notes: [], problems: result.problems };
  const loaded = loadPolicy([{ name: "policy.yaml", text: result.yaml }]);
  const tools = loaded.ok ? (loaded.document.tool_schemas ?? NO_TOOLS) : NO_TOOLS;
  const notes = result.notes.map(({ tool, path, message }) => `${tool} ${path} ${message}`);
  return { tools, notes, problems: [] };
}

const API = {
  openapi: "3.0.3",
  paths: {
    "/orders/{id}": {
      parameters: [
        { name: "id", in: "path", required: true, schema: { type: "string" } },
        { name: "X-Trace", in: "header", schema: { type: "string" } },
      ],
      get: {
        operationId: "getOrder",
        parameters: [{ $ref: "#/components/parameters/Lines" }],
      },
      delete: {},
      patch: {
        operationId: "changeOrder",
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Order" } } },
        },
      },
    },
    "/orders": {
      post: {
        operationId: "import",
        requestBody: {
          content: {
            "application/json": {
              schema: { type: "array", items: { $ref: "#/components/schemas/Order" } },
            },
          },
        },
      },
      put: { operationId: "upload", requestBody: { content: { "text/csv": {} } } },
    },
  },
  components: {
    parameters: { Lines: { name: "lines", in: "query", schema: { type: "boolean" } } },
    schemas: {
      Order: {
        type: "object",
        required: ["total"],
        properties: {
          total: { type: "number", minimum: 0, exclusiveMinimum: true },
          note: { type: "string", nullable: true },
          parent: { $ref: "#/components/schemas/Order" },
        },
      },
    },
  },
};

describe("an OpenAPI description", () => {
  const { tools, notes } = imported(API);

  it("gives one tool per operation, and reads for safe methods", () => {
    const classes = Object.entries(tools).map(([name, { read_only, risk_level }]) => [
      name,
      read_only,
      risk_level,
    ]);
    expect(classes).toEqual([
      ["getOrder", true, undefined],
      ["changeOrder", false, undefined],
      ["delete_orders_id", false, "HIGH"],
      ["import", false, undefined],
      ["upload", false, undefined],
    ]);
  });

  it("takes path and query parameters as arguments", () => {
    expect(tools["getOrder"]?.input_schema).toEqual({
      type: "object",
      properties: { id: { type: "string" }, lines: { type: "boolean" } },
      required: ["id"],
    });
  });

  it("takes the members of a JSON body as arguments, with the schemas that they use", () => {
    const { input_schema } = tools["changeOrder"] ?? {};
    expect(input_schema).toMatchObject({
      required: ["id", "total"],
      properties: {
        total: { exclusiveMinimum: 0 },
        note: { type: ["string", "null"] },
        parent: { $ref: "#/$defs/Order" },
      },
      $defs: { Order: { properties: { parent: { $ref: "#/$defs/Order" } } } },
    });
  });

  it("takes any other body as one argument, and omits bodies that are not JSON", () => {
    expect(tools["import"]?.input_schema).toMatchObject({
      properties: { body: { type: "array", items: { $ref: "#/$defs/Order" } } },
    });
    expect(tools["upload"]?.input_schema).toEqual({ type: "object", properties: {} });
    expect(notes).toContain("upload $.requestBody is not JSON and is left out");
  });
});

it.each([[{ swagger: "2.0", paths: {} }], [[]], [{ openapi: "4.0" }]])(
  "is expected, and %j is rejected",
  (json) => {
    expect(imported(json).problems[0]?.message).toMatch(/^expected an OpenAPI 3 description/);
  },
);

it("ignores dangling and circular references", () => {
  const circle = { a: { $ref: "#/components/parameters/a" } };
  const { tools } = imported({
    openapi: "3.1.0",
    paths: {
      "/a": { get: { parameters: [{ $ref: "#/components/parameters/a" }, { $ref: "x" }] } },
    },
    components: { parameters: circle },
  });
  expect(tools["get_a"]?.input_schema).toEqual({ type: "object", properties: {} });
});
