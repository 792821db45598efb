import { isDeepStrictEqual } from "node:util";
import { policyPath } from "../../core/policy/path.ts";
import { describeLocation, type PolicyProblem } from "../../core/policy/problem.ts";
import { laterKey, type ReadPolicy, type WrittenBlock } from "./read-yaml.ts";

/** A policy document before it is checked. */
export type RawDocument = Readonly<Record<string, unknown>>;

/** How many levels of maps are merged: the tools of `tool_schemas` by key, other blocks by key. */
const LEVELS: Readonly<Record<string, number>> = { tool_schemas: 2 };

/**
 * Merges the blocks of all files into one document. Blocks of two files that are maps are merged by
 * key, and `tool_schemas` by tool and key, so that an imported file and what people wrote about the
 * same tools can be kept apart. A key that two files give different values is a problem that names
 * both locations, since the author's intention is unknown; so is a block that one file has twice.
 */
export function foldBlocks({ blocks, positions, later, problems }: ReadPolicy): RawDocument {
  const first = new Map<string, WrittenBlock>();
  const document: Record<string, unknown> = {};
  for (const block of blocks) {
    const { name, value, file } = block;
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, block);
      document[name] = value;
    } else if (earlier.file === file || !(isMap(value) && isMap(document[name]))) {
      problems.push(twice(block, `also at ${describeLocation(earlier)}`, name));
    } else {
      const conflict = (path: readonly string[]): void => {
        const written = policyPath(path);
        const at = later.get(laterKey(file, written));
        const before = positions.get(written);
        const line = at === undefined ? block : { file, ...at.key };
        const other = before === undefined ? earlier : { file: before.file, ...before.key };
        problems.push(
          twice({ ...line, name: written }, `also at ${describeLocation(other)}`, written),
        );
      };
      document[name] = merged(document[name], value, [name], LEVELS[name] ?? 1, conflict);
    }
  }
  return first.has("retries") ? withRetries(document, first, problems) : document;
}

function merged(
  before: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
  levels: number,
  conflict: (path: readonly string[]) => void,
): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = { ...before };
  for (const [key, member] of Object.entries(value)) {
    const there = before[key];
    const at = [...path, key];
    if (!Object.hasOwn(before, key)) result[key] = member;
    else if (levels > 1 && isMap(there) && isMap(member)) {
      result[key] = merged(there, member, at, levels - 1, conflict);
    } else if (!isDeepStrictEqual(there, member)) conflict(at);
  }
  return result;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Moves `retries` from top level to `tools.retries`, which it stands for. */
function withRetries(
  document: RawDocument,
  blocks: ReadonlyMap<string, WrittenBlock>,
  problems: PolicyProblem[],
): RawDocument {
  const { retries, ...rest } = document;
  const tools = rest["tools"] ?? {};
  if (typeof tools !== "object" || Array.isArray(tools)) return rest;
  if (Object.hasOwn(tools, "retries")) {
    const outer = blocks.get("retries") as WrittenBlock;
    const inner = blocks.get("tools") as WrittenBlock;
    problems.push(
      twice(outer, `also under \`tools\` at ${describeLocation(inner)}`, "tools.retries"),
    );
    return rest;
  }
  return { ...rest, tools: { ...tools, retries } };
}

function twice(block: Omit<WrittenBlock, "value">, where: string, path: string): PolicyProblem {
  const { file, line, column } = block;
  const message = `\`${block.name}\` is written twice, ${where}`;
  return { file, line, column, path, message, remedy: "keep one of the two" };
}
