/** What DuckDB answers, as JSON has it. */
import type { DuckDBTimestampTZValue, DuckDBValueConverter, Json } from "@duckdb/node-api";

type Package = Pick<
  typeof import("@duckdb/node-api"),
  "DuckDBTimestampValue" | "DuckDBTypeId" | "JsonDuckDBValueConverter"
>;

/** Times are text, in UTC wherever it runs. */
export function plainValues({
  DuckDBTimestampValue,
  DuckDBTypeId,
  JsonDuckDBValueConverter,
}: Package): DuckDBValueConverter<Json> {
  return (value, type, nested) => {
    if (value !== null && type.typeId === DuckDBTypeId.TIMESTAMP_TZ) {
      return `${new DuckDBTimestampValue((value as DuckDBTimestampTZValue).micros)}+00`;
    }
    return JsonDuckDBValueConverter(value, type, nested);
  };
}
