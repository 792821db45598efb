/**
 * Lists all keys of the configuration; variables, masking and the reference come from this list.
 */
import { z } from "zod";
import { configSchema } from "./config-schema.ts";
import { VARIABLE_PREFIX } from "./read-env.ts";

export type ConfigKey = {
  readonly path: readonly string[];
  /** `kafka.brokers` */
  readonly name: string;
  /** `CALLGATE_KAFKA_BROKERS` */
  readonly variable: string;
  readonly type: "text" | "number" | "boolean" | "list" | "maps";
  /** The default as JSON; null: the key has no default. */
  readonly defaultText: string | null;
  readonly description: string;
  readonly secret: "whole" | "url" | null;
  readonly isPath: boolean;
};

type Node = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly default?: unknown;
  readonly description?: string;
  readonly secret?: "whole" | "url";
  readonly path?: true;
};

const TYPES: Readonly<Record<string, ConfigKey["type"]>> = {
  string: "text",
  integer: "number",
  number: "number",
  boolean: "boolean",
  array: "list",
};

const root: Node = z.toJSONSchema(configSchema, { io: "input" }) as Node;

/** All keys, in the order of the schema. */
export const CONFIG_KEYS: readonly ConfigKey[] = leavesOf(root, []);

/** Names of the keys of the map at a path; empty where no map is there. */
export function namesAt(path: readonly (string | number)[]): readonly string[] {
  let node: Node | undefined = root;
  for (const segment of path) node = node?.properties?.[segment] ?? node?.items;
  return Object.keys(node?.properties ?? {});
}

function leavesOf(node: Node, path: readonly string[]): readonly ConfigKey[] {
  if (node.properties !== undefined) {
    return Object.entries(node.properties).flatMap(([name, inner]) =>
      leavesOf(inner, [...path, name]),
    );
  }
  return [
    {
      path,
      name: path.join("."),
      variable: variableOf(path),
      type: node.items?.properties ? "maps" : (TYPES[node.type ?? "string"] ?? "text"),
      defaultText: node.default === undefined ? null : JSON.stringify(node.default),
      description: node.description ?? "",
      secret: node.secret ?? null,
      isPath: node.path === true,
    },
  ];
}

function variableOf(path: readonly string[]): string {
  const words = path.map((segment) => segment.replaceAll(/[A-Z]/g, "_$&").toUpperCase());
  return VARIABLE_PREFIX + words.join("_");
}
