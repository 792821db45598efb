import type { DeclaredEffect } from "../../../core/policy/document.ts";

export type JsonMap = Readonly<Record<string, unknown>>;

/** What every format says about a tool; the schema is still unchanged. */
export type ToolDefinition = {
  readonly name: string;
  /** Undefined if the format has none. */
  readonly schema: unknown;
  /** Text for the model; empty if there is none. */
  readonly description: string;
  /** HTTP method of the operation, in small letters; null outside of OpenAPI. */
  readonly method: string | null;
  /** Null: not stated, so a write. */
  readonly readOnly: boolean | null;
  readonly risky: boolean;
  readonly effects: readonly DeclaredEffect[];
};

/** Something that an import changed, dropped or left open. */
export type ImportNote = {
  readonly tool: string;
  /** JSON path in the tool's definition; `$` is the definition itself. */
  readonly path: string;
  readonly message: string;
};

export type AddNote = (tool: string, path: string, message: string) => void;

/** Reads one file's content, or says why it is not of the format. */
export type ReadDefinitions = (
  json: unknown,
  options: { readonly trusted: boolean },
  note: AddNote,
) => readonly ToolDefinition[] | { readonly problem: string };

/** The text of a description; whatever else is written there says nothing. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The list of tools in the wrappers that formats use: a list, or a map with one of the keys. */
export function listIn(json: unknown, ...keys: readonly string[]): readonly unknown[] | null {
  if (Array.isArray(json)) return json;
  if (!isMap(json)) return null;
  for (const key of keys) {
    const list = json[key];
    if (Array.isArray(list)) return list;
  }
  return null;
}
