/** One layout for policies: blocks in the order of the reference, comments kept where they were. */
import { Document, isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";
import { blockShape } from "./vocabulary/blocks.ts";

const LINE_WIDTH = 100;
const ORDER = [...Object.keys(blockShape), "retries"];

/** The same policy in the one layout; null where the text is not YAML: the loader says why. */
export function formatYaml(text: string): string | null {
  const document = parseDocument(text, { uniqueKeys: false, logLevel: "error" });
  if (!(document instanceof Document) || document.errors.length > 0) return null;
  const { contents } = document;
  if (!isMap(contents)) return null;
  keepHead(document, contents);
  sortBlocks(contents);
  const engine = contents.get("policy_engine", true);
  if (isMap(engine)) sortBlocks(engine);
  return document.toString({ lineWidth: LINE_WIDTH, indent: 2, flowCollectionPadding: true });
}

/** What stands before the first block is about the file: it must not move with that block. */
function keepHead(document: Document, { items }: YAMLMap): void {
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

/** Unknown keys stay behind, in their order. */
function rankOf({ key }: Pair): number {
  const at = ORDER.indexOf(isScalar(key) ? String(key.value) : "");
  return at < 0 ? ORDER.length : at;
}
