import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import { GOLDEN_RECORDS } from "../../support/wire/golden-records.ts";
import { SAMPLE_SECRETS } from "../../support/wire/samples.ts";

const folder = fileURLToPath(new URL("../avro/", import.meta.url));
const releases = readdirSync(folder).sort(
  (a, b) => Number(a.replace("v", "")) - Number(b.replace("v", "")),
);
const schemas = readSchemaFiles();
const codec = createAvroCodec({ secrets: SAMPLE_SECRETS, schemas });

function goldenBytes(release: string, file: string): Buffer {
  return Buffer.from(
    readFileSync(`${folder}${release}/${file}.hex`, "utf8").replaceAll("\n", ""),
    "hex",
  );
}

test("every release of the schemas has golden bytes", () => {
  const versions = new Set(schemas.released.map(({ version }) => version));
  expect(releases).toEqual([...versions]);
});

describe.each(releases)("a record that %s wrote", (release) => {
  const number = Number(release.replace("v", ""));

  test.each(GOLDEN_RECORDS.filter(({ since }) => since <= number))(
    "can be read: $file",
    ({ file, read, value }) => {
      expect(read(codec, goldenBytes(release, file))).toMatchObject(value);
    },
  );
});

describe("the newest release writes byte for byte", () => {
  const newest = releases.at(-1) ?? "";

  test.each(GOLDEN_RECORDS)("$file", ({ file, write }) => {
    expect(Buffer.from(write(codec)).toString("hex")).toBe(
      goldenBytes(newest, file).toString("hex"),
    );
  });
});
