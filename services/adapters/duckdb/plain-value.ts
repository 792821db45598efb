/** Converts the values of DuckDB to JSON values. */
import type { DuckDBTimestampTZValue, DuckDBValueConverter, Json } from "@duckdb/node-api";

type Package = Pick<
  typeof import("@duckdb/node-api"),
  "DuckDBTimestampValue" | "DuckDBTypeId" | "JsonDuckDBValueConverter"
>;

/** A JSON number represents decimals of this many digits exactly. */
const DECIMAL_DIGITS = 15;

/**
 * Numbers stay numbers where JSON represents them exactly: integers up to 2^53 - 1, decimals of 15
 * digits. Others become text, as do `NaN` and `Infinity`. Times become text in UTC, whatever the
 * host's time zone, and intervals as SQL writes them.
 */
export function plainValues({
  DuckDBTimestampValue,
  DuckDBTypeId,
  JsonDuckDBValueConverter,
}: Package): DuckDBValueConverter<Json> {
  const integers = new Set([
    ...[DuckDBTypeId.BIGINT, DuckDBTypeId.UBIGINT, DuckDBTypeId.HUGEINT],
    ...[DuckDBTypeId.UHUGEINT, DuckDBTypeId.BIGNUM],
  ]);
  return (value, type, nested) => {
    if (value !== null && type.typeId === DuckDBTypeId.TIMESTAMP_TZ) {
      return `${new DuckDBTimestampValue((value as DuckDBTimestampTZValue).micros)}+00`;
    }
    if (value !== null && type.typeId === DuckDBTypeId.INTERVAL) return `${value}`;
    const plain = JsonDuckDBValueConverter(value, type, nested);
    if (typeof plain !== "string") return plain;
    const isNumber = integers.has(type.typeId)
      ? Number.isSafeInteger(Number(plain))
      : type.typeId === DuckDBTypeId.DECIMAL && isExact(plain);
    return isNumber ? Number(plain) : plain;
  };
}

function isExact(decimal: string): boolean {
  return decimal.replace(/^-?[0.]*/, "").replace(".", "").length <= DECIMAL_DIGITS;
}
