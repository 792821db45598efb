import { expect, test } from "vitest";
import { compileAvro } from "../../../services/wire/avro-types.ts";
import { schemaFingerprint } from "../../../services/wire/fingerprint.ts";

// From the schema tests of the Avro specification, as signed 64-bit numbers.
test.each([
  ["null", 7195948357588979594n],
  ["boolean", -6970731678124411036n],
  ["int", 8247732601305521295n],
  ["long", -3434872931120570953n],
  ["float", 5583340709985441680n],
  ["double", -8181574048448539266n],
  ["bytes", 5746618253357095269n],
  ["string", -8142146995180207161n],
])("the fingerprint of %s is the published one", (schema, expected) => {
  const bytes = Buffer.from(schemaFingerprint(compileAvro(schema)));
  expect(bytes.readBigInt64LE()).toBe(expected);
});
