// Writes the JSON Schemas of policies from the vocabulary that the loader checks with.
import { writeFileSync } from "node:fs";
import { policyJsonSchema, type SchemaDraft } from "../services/adapters/policy/json-schema.ts";

const FILES: readonly (readonly [name: string, draft: SchemaDraft])[] = [
  ["policy.schema.json", "draft-2020-12"],
  ["policy.draft-07.schema.json", "draft-07"],
];

for (const [name, draft] of FILES) {
  const file = new URL(`../schemas/${name}`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(policyJsonSchema(draft), null, 2)}\n`);
}
