// `npm run schemas`: writes the files that derive from the table of reasons, the order of the checks and the
// policy's vocabulary.
import { writeFileSync } from "node:fs";
import { GENERATED_FILES } from "./generate/generated-files.ts";

for (const { path, text } of GENERATED_FILES) {
  writeFileSync(new URL(`../${path}`, import.meta.url), text());
}
