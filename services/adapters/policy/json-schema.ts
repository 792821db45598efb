/** Makes the JSON Schema of policies, for editors, from the vocabulary. */
import { z } from "zod";
import {
  NORMALIZER_NAMES,
  normalizerArgumentsMax,
} from "../../core/normalize/compile-normalizers.ts";
import { isAlwaysEnforced, REASON_CODES } from "../../core/reasons/reasons.ts";
import { type SchemaNode, shareDefinitions } from "./share-definitions.ts";
import { blockShape, topLevelRetries } from "./vocabulary/blocks.ts";

export type SchemaDraft = "draft-2020-12" | "draft-07";

type Node = SchemaNode;

const blocks = { ...blockShape, retries: topLevelRetries };

const policyFile = z.strictObject({
  ...blocks,
  policy_engine: z
    .exactOptional(z.strictObject(blocks))
    .describe(
      "The blocks of the policy; each may also stand at top level, but not in both places.",
    ),
});

export function policyJsonSchema(draft: SchemaDraft): object {
  const target = draft === "draft-07" ? "draft-7" : draft;
  const { $schema, ...schema } = z.toJSONSchema(policyFile, { target, io: "input" }) as Node;
  const engine = (schema["properties"] as Record<string, Node>)["policy_engine"] as Node;
  for (const root of [schema, engine]) {
    limitCodes(root);
    nodesAt(root, ["tool_schemas", "*", "normalizers", "*"]).forEach(limitNormalizers);
  }
  const isDraft7 = draft === "draft-07";
  const shared = shareDefinitions(schema, {
    keyword: isDraft7 ? "definitions" : "$defs",
    countsBesideRef: !isDraft7,
  });
  return {
    $schema,
    title: "Callgate policy",
    description:
      "What agents may call, when a call is a duplicate, and who decides. See docs/policy.md.",
    ...shared,
  };
}

function limitCodes(root: Node): void {
  const codes = REASON_CODES.filter((code) => !isAlwaysEnforced(code));
  for (const path of [["checks"], ["tool_schemas", "*", "checks"]]) {
    for (const node of nodesAt(root, path)) node["propertyNames"] = { enum: codes };
  }
}

function limitNormalizers(chain: Node): void {
  for (const form of chain["anyOf"] as Node[]) {
    const single = form["type"] === "array" ? (form["items"] as Node) : form;
    // The enum lets editors offer the names; the pattern covers arguments and custom
    // normalizers.
    const more = NORMALIZER_NAMES.filter((name) => normalizerArgumentsMax(name) > 0).join("|");
    const pattern = `^(?:(?:${more})\\([^()]*\\)|x_[A-Za-z0-9_]+(?:\\([^()]*\\))?)$`;
    single["anyOf"] = [{ enum: NORMALIZER_NAMES }, { pattern }];
  }
}

/** Finds the nodes that describe the values at a path of the document; `*` is any key or index. */
function nodesAt(root: Node, path: readonly string[]): readonly Node[] {
  let nodes: readonly Node[] = [root];
  for (const step of path)
    nodes = nodes.flatMap(alternatives).flatMap((node) => inside(node, step));
  return nodes;
}

function inside(node: Node, step: string): readonly Node[] {
  const properties = node["properties"] as Readonly<Record<string, Node>> | undefined;
  const property = properties?.[step];
  if (property !== undefined) return [property];
  if (step !== "*") return [];
  return [node["items"], node["additionalProperties"]].filter(isNode);
}

function alternatives(node: Node): readonly Node[] {
  const options = node["anyOf"] ?? node["oneOf"];
  return Array.isArray(options) ? (options as Node[]).flatMap(alternatives) : [node];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
