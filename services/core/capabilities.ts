/**
 * What the core needs from libraries, as pure and synchronous functions. The core owns these
 * interfaces and adapters supply them, so that compiling a policy and deciding a call import nothing.
 */

/** One way in which a value breaks its schema. `path` is a JSON path from `$`. */
export type SchemaProblem = {
  readonly path: string;
  readonly message: string;
};

/** A compiled JSON Schema. Both functions are total and leave their argument as it is. */
export type CompiledJsonSchema = {
  readonly ok: true;
  /** Every problem found, in document order; empty where the value is valid. Bounded. */
  readonly validate: (value: unknown) => readonly SchemaProblem[];
  /** The value with the schema's defaults filled in; the same object where none is missing. */
  readonly defaults: (value: unknown) => unknown;
};

export type CapabilityProblem = {
  readonly ok: false;
  /** One sentence for the author of the policy. */
  readonly problem: string;
};

/** A regular expression that runs in time linear in the text. */
export type CompiledPattern = {
  readonly ok: true;
  /** True where the pattern is found anywhere in the text. */
  readonly test: (text: string) => boolean;
};

export type SchemaCapabilities = {
  /** JSON Schema 2020-12, never resolving a reference outside the schema itself. */
  readonly compileJsonSchema: (schema: unknown) => CompiledJsonSchema | CapabilityProblem;
};

export type PatternCapabilities = {
  readonly compilePattern: (
    pattern: string,
    options?: { readonly ignoreCase?: boolean },
  ) => CompiledPattern | CapabilityProblem;
};

/** Value forms that need a library. Total: null where the text is not such a value. */
export type ValueCapabilities = {
  /** The WHATWG serialization of an absolute URL. */
  readonly url: (text: string) => string | null;
  /** Plain decimal notation: no exponent, no needless zeros, no `-0`. */
  readonly decimal: (text: string) => string | null;
};

/** Everything that compiling a policy needs. */
export type Capabilities = SchemaCapabilities & PatternCapabilities & ValueCapabilities;
