/** Every file that `npm run schemas` writes, with its contents. */
import { policyJsonSchema, type SchemaDraft } from "../../services/adapters/policy/json-schema.ts";
import { checkListText } from "./check-list.ts";
import { policyReferencePage } from "./policy-reference.ts";
import { policyTypesText } from "./policy-types.ts";
import { reasonCodesPage, reasonsJson } from "./reason-documents.ts";

interface GeneratedFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: () => string;
}

export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: "schemas/policy.schema.json", text: () => schemaText("draft-2020-12") },
  { path: "schemas/policy.draft-07.schema.json", text: () => schemaText("draft-07") },
  { path: "schemas/reasons.json", text: reasonsJson },
  { path: "docs/reason-codes.md", text: reasonCodesPage },
  { path: "docs/policy-reference.md", text: policyReferencePage },
  { path: "services/core/checks/order.ts", text: checkListText },
  { path: "services/core/policy/document.ts", text: policyTypesText },
];

function schemaText(draft: SchemaDraft): string {
  return `${JSON.stringify(policyJsonSchema(draft), null, 2)}\n`;
}
