// JSONTestSuite: what must be refused, what must be accepted, and what each parser may decide for
// itself, which is pinned here so that a change of it is seen.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import { sharedData } from "../../support/shared-data.ts";

const data = sharedData("conformance/jsontestsuite");

/** Accepted by the suite, refused here: two parsers would keep different values. */
const REFUSED_DUPLICATES: readonly string[] = [
  "y_object_duplicated_key.json",
  "y_object_duplicated_key_and_value.json",
];

/** The canonical text, or the code of the refusal. */
const PINNED: Readonly<Record<string, string>> = {
  "i_number_double_huge_neg_exp.json": "number_underflow",
  "i_number_huge_exp.json": "number_overflow",
  "i_number_neg_int_huge_exp.json": "number_overflow",
  "i_number_pos_double_huge_exp.json": "number_overflow",
  "i_number_real_neg_overflow.json": "number_overflow",
  "i_number_real_pos_overflow.json": "number_overflow",
  "i_number_real_underflow.json": "number_underflow",
  "i_number_too_big_neg_int.json": "number_not_exact",
  "i_number_too_big_pos_int.json": "[100000000000000000000]",
  "i_number_very_big_negative_int.json": "number_not_exact",
  "i_object_key_lone_2nd_surrogate.json": "lone_surrogate",
  "i_string_1st_surrogate_but_2nd_missing.json": "lone_surrogate",
  "i_string_1st_valid_surrogate_2nd_invalid.json": "lone_surrogate",
  "i_string_UTF-16LE_with_BOM.json": "invalid_utf8",
  "i_string_UTF-8_invalid_sequence.json": "invalid_utf8",
  "i_string_UTF8_surrogate_U+D800.json": "invalid_utf8",
  "i_string_incomplete_surrogate_and_escape_valid.json": "lone_surrogate",
  "i_string_incomplete_surrogate_pair.json": "lone_surrogate",
  "i_string_incomplete_surrogates_escape_valid.json": "lone_surrogate",
  "i_string_invalid_lonely_surrogate.json": "lone_surrogate",
  "i_string_invalid_surrogate.json": "lone_surrogate",
  "i_string_invalid_utf-8.json": "invalid_utf8",
  "i_string_inverted_surrogates_U+1D11E.json": "lone_surrogate",
  "i_string_iso_latin_1.json": "invalid_utf8",
  "i_string_lone_second_surrogate.json": "lone_surrogate",
  "i_string_lone_utf8_continuation_byte.json": "invalid_utf8",
  "i_string_not_in_unicode_range.json": "invalid_utf8",
  "i_string_overlong_sequence_2_bytes.json": "invalid_utf8",
  "i_string_overlong_sequence_6_bytes.json": "invalid_utf8",
  "i_string_overlong_sequence_6_bytes_null.json": "invalid_utf8",
  "i_string_truncated-utf-8.json": "invalid_utf8",
  "i_string_utf16BE_no_BOM.json": "invalid_utf8",
  "i_string_utf16LE_no_BOM.json": "invalid_utf8",
  "i_structure_500_nested_arrays.json": "too_deep",
  "i_structure_UTF-8_BOM_empty_object.json": "syntax",
};

/** The outcome of texts that parsers change: unchanged in meaning, or refused. */
const TRANSFORMED: Readonly<Record<string, string>> = {
  "number_-9223372036854775808.json": "number_not_exact",
  "number_-9223372036854775809.json": "number_not_exact",
  "number_1.0.json": "[1]",
  "number_1.000000000000000005.json": "number_too_precise",
  "number_1000000000000000.json": "[1000000000000000]",
  "number_10000000000000000999.json": "number_not_exact",
  "number_1e-999.json": "number_underflow",
  "number_1e6.json": "[1000000]",
  "number_9223372036854775807.json": "number_not_exact",
  "number_9223372036854775808.json": "number_not_exact",
  "object_key_nfc_nfd.json": '{"e\u0301":"NFD","\u00e9":"NFC"}',
  "object_key_nfd_nfc.json": '{"e\u0301":"NFD","\u00e9":"NFC"}',
  "object_same_key_different_values.json": "duplicate_key",
  "object_same_key_same_value.json": "duplicate_key",
  "object_same_key_unclear_values.json": "duplicate_key",
  "string_1_escaped_invalid_codepoint.json": "lone_surrogate",
  "string_1_invalid_codepoint.json": "invalid_utf8",
  "string_2_escaped_invalid_codepoints.json": "lone_surrogate",
  "string_2_invalid_codepoints.json": "invalid_utf8",
  "string_3_escaped_invalid_codepoints.json": "lone_surrogate",
  "string_3_invalid_codepoints.json": "invalid_utf8",
  "string_with_escaped_NULL.json": '["A\\u0000B"]',
};

function outcomeOf(folder: string, file: string): string {
  const result = parseCanonical(readFileSync(join(data.path, folder, file)));
  return result.ok ? result.text : result.code;
}

function parsingFiles(prefix: string): string[] {
  return readdirSync(join(data.path, "test_parsing")).filter((file) => file.startsWith(prefix));
}

describe.skipIf(!data.available)("JSONTestSuite", () => {
  it("refuses all 188 texts that are not JSON", () => {
    const files = parsingFiles("n_");
    const accepted = files.filter(
      (file) => parseCanonical(readFileSync(join(data.path, "test_parsing", file))).ok,
    );
    expect(accepted).toEqual([]);
    expect(files).toHaveLength(188);
  });

  it("accepts the 95 texts that are JSON, except two with a repeated key", () => {
    const files = parsingFiles("y_");
    const refused = files.filter(
      (file) => !parseCanonical(readFileSync(join(data.path, "test_parsing", file))).ok,
    );
    expect(refused).toEqual(REFUSED_DUPLICATES);
    expect(files).toHaveLength(95);
  });

  it("accepts or refuses the 35 implementation-defined texts as pinned", () => {
    const files = parsingFiles("i_");
    const outcomes = Object.fromEntries(
      files.map((file) => [file, outcomeOf("test_parsing", file)]),
    );
    expect(outcomes).toEqual(PINNED);
    expect(files).toHaveLength(35);
  });

  it("preserves or refuses the 22 texts that parsers change", () => {
    const files = readdirSync(join(data.path, "test_transform"));
    const outcomes = Object.fromEntries(
      files.map((file) => [file, outcomeOf("test_transform", file)]),
    );
    expect(outcomes).toEqual(TRANSFORMED);
    expect(files).toHaveLength(22);
  });

  it("gives the same outcome for a text and its bytes", () => {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let compared = 0;
    for (const file of [...parsingFiles("y_"), ...parsingFiles("n_")]) {
      const bytes = readFileSync(join(data.path, "test_parsing", file));
      let text: string;
      try {
        text = decoder.decode(bytes);
      } catch {
        continue;
      }
      const [fromText, fromBytes] = [parseCanonical(text), parseCanonical(bytes)];
      expect(fromText.ok ? fromText.text : fromText.code).toBe(
        fromBytes.ok ? fromBytes.text : fromBytes.code,
      );
      compared += 1;
    }
    expect(compared).toBeGreaterThan(250);
  });
});
