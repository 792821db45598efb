/** Writes policies as YAML, and formats those that people wrote. */
import { Document, isMap, isScalar, type Pair, parseDocument, visit, type YAMLMap } from "yaml";
import { escapeHiddenInLines, hasHidden } from "../../core/hidden-text.ts";
import { blockShape } from "./vocabulary/blocks.ts";

const LINE_WIDTH = 100;
const ORDER = [...Object.keys(blockShape), "retries"];

/** Formats a policy; null where the text is not YAML, which the loader reports. */
export function formatYaml(text: string): string | null {
  const document = parseDocument(text, { uniqueKeys: false, logLevel: "error" });
  if (!(document instanceof Document) || document.errors.length > 0) return null;
  const { contents } = document;
  if (!isMap(contents)) return null;
  attachHeadComment(document, contents);
  sortBlocks(contents);
  const engine = contents.get("policy_engine", true);
  if (isMap(engine)) sortBlocks(engine);
  return document.toString({ lineWidth: LINE_WIDTH, indent: 2, flowCollectionPadding: true });
}

/** A comment before the first block is about the file, and must not move with that block. */
function attachHeadComment(document: Document, { items }: YAMLMap): void {
  const key = items[0]?.key;
  if (!isScalar(key) || typeof key.commentBefore !== "string") return;
  document.commentBefore = [document.commentBefore, key.commentBefore].filter(Boolean).join("\n");
  key.commentBefore = null;
}

function sortBlocks(map: YAMLMap): void {
  map.items.sort((a, b) => rankOf(a) - rankOf(b));
  const key = map.items[0]?.key;
  if (isScalar(key)) key.spaceBefore = false;
}

/** Unknown keys come last, in their order. */
function rankOf({ key }: Pair): number {
  const at = ORDER.indexOf(isScalar(key) ? String(key.value) : "");
  return at < 0 ? ORDER.length : at;
}

/** Lines above one entry of a map. */
export type EntryComment = {
  /** The keys from the top down to the entry. */
  readonly at: readonly string[];
  readonly lines: readonly string[];
};

function writeComment(document: Document, { at, lines }: EntryComment): void {
  const map = document.getIn(at.slice(0, -1), true);
  if (!isMap(map)) return;
  const pair = map.items.find(({ key }) => isScalar(key) && key.value === at.at(-1));
  if (pair === undefined || !isScalar(pair.key) || lines.length === 0) return;
  pair.key.commentBefore = lines.map((line) => ` ${line}`).join("\n");
}

/**
 * Writes a plain value as YAML under comment lines. Repeated values are written out, never as
 * anchors. Invisible characters are escaped, in double quotes, so that YAML reads the escapes.
 */
export function writeYaml(
  value: unknown,
  comments: readonly string[] = [],
  entryComments: readonly EntryComment[] = [],
): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  for (const comment of entryComments) writeComment(document, comment);
  visit(document, {
    Scalar: (_key, scalar) => {
      const { value: text } = scalar;
      const isHidden = typeof text === "string" && hasHidden(text.replaceAll(/[\n\t]/g, ""));
      if (isHidden) scalar.type = "QUOTE_DOUBLE";
    },
  });
  const body = document.toString({ lineWidth: LINE_WIDTH, flowCollectionPadding: true });
  return escapeHiddenInLines([...comments.map((comment) => `# ${comment}`), body].join("\n"));
}
