/**
 * Compiles JSON Schema 2020-12 with ajv. A schema comes from a policy author or a tool server, so
 * patterns run in linear time, references outside the schema are refused, size and depth are
 * bounded, and unknown keywords are ignored as the standard says.
 */
import { createRequire } from "node:module";
import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { canonicalText } from "../../core/canonical/canonical-text.ts";
import type { JsonValue } from "../../core/canonical/json-value.ts";
import type {
  CapabilityProblem,
  CompiledJsonSchema,
  PatternCapabilities,
  SchemaCapabilities,
} from "../../core/capabilities.ts";
import { describeErrors, jsonPath } from "./describe-errors.ts";
import { isDeeperThan, measureSchema } from "./measure-schema.ts";

/** Loads ajv with the first schema, since its ninety files take a tenth of a start. */
const require = createRequire(import.meta.url);

/** Dialects read as 2020-12; what differs in an older one is reported as an invalid keyword. */
const DIALECT = /^https?:\/\/json-schema\.org\/(draft-0[4-7]|draft\/20(19-09|20-12))\/schema#?$/;

/** Schemas without an id get this one: ajv resolves `#` only against a schema that has one. */
const SCHEMA_ID = "callgate:tool-arguments";

/** Creates the compiler of tool schemas; `compilePattern` compiles the patterns inside them. */
export function createJsonSchemaCompiler(
  compilePattern: PatternCapabilities["compilePattern"],
): SchemaCapabilities["compileJsonSchema"] {
  // Created on first use, so that a policy without schemas starts without ajv.
  let compilers: Compilers | null = null;
  return (schema) => {
    compilers ??= {
      checking: createAjv(compilePattern, false),
      filling: createAjv(compilePattern, true),
    };
    return compileWith(compilers, schema);
  };
}

/** One instance checks values and leaves them as they are, the other writes defaults into them. */
interface Compilers {
  readonly checking: Ajv2020;
  readonly filling: Ajv2020;
}

function createAjv(
  compilePattern: PatternCapabilities["compilePattern"],
  useDefaults: boolean,
): Ajv2020 {
  const engine = (pattern: string) => {
    const compiled = compilePattern(pattern);
    if (!compiled.ok) throw new Error(`pattern \`${pattern}\`: ${compiled.problem}`);
    // ajv identifies compiled patterns by their text.
    return { test: compiled.test, toString: () => pattern };
  };
  const ajvOf2020: typeof import("ajv/dist/2020.js") = require("ajv/dist/2020.js");
  const formats: typeof import("ajv-formats") = require("ajv-formats");
  const ajv = new ajvOf2020.Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    addUsedSchema: false,
    logger: false,
    useDefaults,
    code: { regExp: Object.assign(engine, { code: "linear" }) },
  });
  formats.default(ajv);
  addUniqueItems(ajv);
  return ajv;
}

/**
 * Replaces ajv's `uniqueItems`, which compares every pair of objects and can take seconds for the
 * arguments of one call. Items are equal where their canonical texts are.
 */
function addUniqueItems(ajv: Ajv2020): void {
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must not have equal items" },
    compile: (unique: boolean) => (items: readonly JsonValue[]) =>
      !unique || new Set(items.map(canonicalText)).size === items.length,
  });
}

function compileWith(
  compilers: Compilers,
  schema: unknown,
): CompiledJsonSchema | CapabilityProblem {
  if (typeof schema === "boolean") return compileWith(compilers, schema ? {} : { not: {} });
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    return refuse("a JSON Schema must be an object or a boolean");
  }
  const { $schema: dialect, ...own } = schema as Readonly<Record<string, unknown>>;
  if (dialect !== undefined && !(typeof dialect === "string" && DIALECT.test(dialect))) {
    return refuse(`\`$schema\` names a dialect that is not known: ${JSON.stringify(dialect)}`);
  }
  const identified = { $id: SCHEMA_ID, ...own };
  const measure = measureSchema(own);
  if (!measure.ok) return refuse(measure.problem);
  try {
    const compiled = compileCheck(compilers.checking, identified, measure.depthMax);
    if (!compiled.ok) return compiled;
    return { ...compiled, defaults: compileDefaults(compilers.filling, identified, measure) };
  } catch (error) {
    return refuse(explain(error));
  } finally {
    compilers.checking.removeSchema(identified);
    compilers.filling.removeSchema(identified);
  }
}

type Checked = { readonly ok: true } & Pick<CompiledJsonSchema, "validate">;

function compileCheck(
  ajv: Ajv2020,
  schema: Readonly<Record<string, unknown>>,
  depthMax: number | null,
): Checked | CapabilityProblem {
  if (ajv.validateSchema(schema) !== true) return refuse(describeSchemaErrors(ajv.errors ?? []));
  const validate: ValidateFunction = ajv.compile(schema);
  // A schema that only refers to itself overflows the stack on its first value, so values are
  // tried.
  for (const probe of [{}, [], "", 0, null]) validate(probe);
  const check = (value: unknown) =>
    validate(value) ? NO_PROBLEMS : describeErrors(validate.errors ?? []);
  if (depthMax === null) return { ok: true, validate: check };
  const tooDeep = { path: "$", message: `has more than ${depthMax} levels, too many to check` };
  return {
    ok: true,
    validate: (value) => (isDeeperThan(value, depthMax) ? [tooDeep] : check(value)),
  };
}

/**
 * Fills a schema's `default` values into a copy of a value, for the identity of a call: a call that
 * leaves an argument out and one that spells its default out are the same call. ajv fills nothing
 * inside `anyOf`, `oneOf`, `not` and `if`, where the branch that matches is open. A recursive schema
 * fills nothing, since its defaults may have no end.
 */
function compileDefaults(
  ajv: Ajv2020,
  schema: Readonly<Record<string, unknown>>,
  { isRecursive }: { readonly isRecursive: boolean },
): (value: unknown) => unknown {
  if (isRecursive || !JSON.stringify(schema).includes('"default":')) return (value) => value;
  const fill = ajv.compile(schema);
  return (value) => {
    const filled = structuredClone(value);
    fill(filled);
    return filled;
  };
}

const NO_PROBLEMS = [] as const;

function refuse(problem: string): CapabilityProblem {
  return { ok: false, problem };
}

function describeSchemaErrors(errors: readonly ErrorObject[]): string {
  const informativeErrors = errors.filter(
    (error) => error.keyword !== "if" && error.keyword !== "anyOf",
  );
  const lines = (informativeErrors.length > 0 ? informativeErrors : errors)
    .slice(0, 5)
    .map((error) => `${jsonPath(error.instancePath)} ${error.message ?? "is invalid"}`);
  return `not a JSON Schema: ${[...new Set(lines)].join("; ")}`;
}

function explain(error: unknown): string {
  if (error instanceof RangeError) return "the schema refers to itself without end";
  const text = error instanceof Error ? error.message : String(error);
  const reference = /can't resolve reference (\S+)/.exec(text);
  if (reference !== null) {
    return `\`$ref\` ${reference[1]} is not in the schema itself; nothing is fetched`;
  }
  return text;
}
