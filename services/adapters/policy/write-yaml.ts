import { Document } from "yaml";

const LINE_WIDTH = 100;

/** A plain value as YAML, under comment lines. Repeated values are written out, never as anchors. */
export function writeYaml(value: unknown, comments: readonly string[] = []): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  const body = document.toString({ lineWidth: LINE_WIDTH, flowCollectionPadding: true });
  return [...comments.map((comment) => `# ${comment}`), body].join("\n");
}
