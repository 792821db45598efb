/** Policies as YAML: plain values written out, and one layout for what people wrote. */
import { Document, isMap, isScalar, type Pair, parseDocument, visit, type YAMLMap } from "yaml";
import { escapeHiddenInLines, hasHidden } from "../../core/hidden-text.ts";
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

/**
 * A plain value as YAML, under comment lines. Repeated values are written out, never as anchors. What nobody sees is
 * escaped, in the quotes where YAML reads the escape as what it stands for.
 */
export function writeYaml(value: unknown, comments: readonly string[] = []): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
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
