// Tables with the cases of the normalizers: one file each, so that each can be read and extended
// alone.
import { readdirSync, readFileSync } from "node:fs";
import { parseNormalizer } from "../../../services/adapters/policy/vocabulary/normalizers.ts";
import { valueCapabilities } from "../../../services/adapters/values/value-capabilities.ts";
import type { JsonValue } from "../../../services/core/canonical/json-value.ts";
import { compileNormalizers } from "../../../services/core/normalize/compile-normalizers.ts";
import type { Normalized } from "../../../services/core/normalize/normalizer.ts";

/**
 * One chain as a policy writes it, the values that it accepts with their results, and those that it
 * refuses.
 */
export interface NormalizerTable {
  readonly name: string;
  readonly chain: readonly string[];
  readonly gives: readonly (readonly [value: JsonValue, expected: JsonValue])[];
  readonly refuses: readonly JsonValue[];
}

const DIRECTORY = new URL("../../fixtures/normalizers/", import.meta.url);

export function normalizerTables(): readonly NormalizerTable[] {
  return readdirSync(DIRECTORY)
    .sort()
    .flatMap((file) => {
      const name = file.replace(/\.json$/, "");
      const groups = JSON.parse(readFileSync(new URL(file, DIRECTORY), "utf8"));
      return groups.map((group: Omit<NormalizerTable, "name">) => ({ name, ...group }));
    });
}

/** Runs a chain as a policy would. @throws where the chain does not compile */
export function runChain(chain: readonly string[], value: JsonValue): Normalized {
  const compiled = compileNormalizers(chain.map(parseNormalizer), {
    capabilities: valueCapabilities,
    schemaDefault: undefined,
  });
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.run(value);
}
