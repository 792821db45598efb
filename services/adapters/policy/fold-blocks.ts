import { describeLocation, type PolicyProblem } from "../../core/policy/problem.ts";
import type { WrittenBlock } from "./read-yaml.ts";

/** A policy document before it is checked. */
export type RawDocument = Readonly<Record<string, unknown>>;

/**
 * Merges the blocks of all files into one document. A block that is written twice is a problem that
 * names both locations, since the author's intention is unknown.
 */
export function foldBlocks(
  blocks: readonly WrittenBlock[],
  problems: PolicyProblem[],
): RawDocument {
  const first = new Map<string, WrittenBlock>();
  for (const block of blocks) {
    const earlier = first.get(block.name);
    if (earlier === undefined) first.set(block.name, block);
    else problems.push(twice(block, `also at ${describeLocation(earlier)}`, block.name));
  }
  const document = Object.fromEntries([...first.values()].map(({ name, value }) => [name, value]));
  return first.has("retries") ? withRetries(document, first, problems) : document;
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

function twice(block: WrittenBlock, where: string, path: string): PolicyProblem {
  const { file, line, column } = block;
  const message = `\`${block.name}\` is written twice, ${where}`;
  return { file, line, column, path, message, remedy: "keep one of the two" };
}
