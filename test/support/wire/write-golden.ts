// Stores the bytes of a new release: `npx tsx test/support/wire/write-golden.ts v2`. Existing files
// are not changed, because the records of a release never change.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { GOLDEN_RECORDS } from "./golden-records.ts";
import { SAMPLE_SECRETS } from "./samples.ts";

const LINE_CHARACTERS = 96;

const [version] = process.argv.slice(2);
if (version === undefined || !/^v\d+$/.test(version)) throw new Error("name the release, as in v2");
const folder = fileURLToPath(new URL(`../../golden/avro/${version}/`, import.meta.url));
const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
mkdirSync(folder, { recursive: true });
for (const { file, write } of GOLDEN_RECORDS) {
  const path = join(folder, `${file}.hex`);
  if (existsSync(path)) continue;
  const hex = Buffer.from(write(codec)).toString("hex");
  writeFileSync(path, `${hex.replaceAll(new RegExp(`.{1,${LINE_CHARACTERS}}`, "g"), "$&\n")}`);
}
