import { Document, visit } from "yaml";
import { escapeHiddenInLines, hasHidden } from "../../core/hidden-text.ts";

const LINE_WIDTH = 100;

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
