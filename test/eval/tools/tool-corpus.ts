/**
 * Tool definitions with labels: what each tool does, on what, and whether a person must be asked. The
 * README beside it says where they come from, and what `unseen` is for.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { ImportFormat } from "../../../services/cli/policy/import/import-tools.ts";

export const HALVES = ["seen", "unseen"] as const;

export type Half = (typeof HALVES)[number];

export interface ToolLabel {
  readonly kind: "read" | "write";
  /** Null: nobody can say what a repeat would double. */
  readonly effect: { readonly resource: string; readonly what: string } | null;
  /** Nobody must be asked before it runs. */
  readonly harmless: boolean;
  /** The argument that carries an idempotency key. */
  readonly key: string | null;
}

export interface ToolSource {
  readonly name: string;
  readonly half: Half;
  readonly format: ImportFormat;
  readonly json: unknown;
  readonly labels: Readonly<Record<string, ToolLabel>>;
}

const DIRECTORY = fileURLToPath(new URL(".", import.meta.url));

/** The sources of one half, by name. */
export function readToolSources(half: Half): readonly ToolSource[] {
  const labels: Readonly<Record<string, ToolSource["labels"]>> = JSON.parse(
    readFileSync(join(DIRECTORY, "labels", `${half}.json`), "utf8"),
  );
  const files = readdirSync(join(DIRECTORY, "definitions"));
  return Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, ofTools]) => {
      const file = files.find((one) => one.startsWith(`${name}.`));
      if (file === undefined) throw new Error(`there are labels and no definitions of ${name}`);
      const [, format = ""] = file.slice(name.length).split(".");
      // JSON is YAML too.
      const json: unknown = parse(readFileSync(join(DIRECTORY, "definitions", file), "utf8"));
      return { name, half, format: format as ImportFormat, json, labels: ofTools };
    });
}
