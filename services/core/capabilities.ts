/**
 * What the core needs from libraries, as pure and synchronous functions. The core owns these
 * interfaces and adapters supply them, so that compiling a policy and deciding a call import nothing.
 */
import type { Programs } from "../commands/programs/program.ts";
import type { JsonValue } from "./canonical/json-value.ts";

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

/** A regular expression whose matching time is linear in the length of the text. */
export type CompiledPattern = {
  readonly ok: true;
  /** Whether the pattern matches anywhere in the text. */
  readonly test: (text: string) => boolean;
};

export type SchemaCapabilities = {
  /** Compiles JSON Schema 2020-12. It never resolves a reference outside the schema itself. */
  readonly compileJsonSchema: (schema: unknown) => CompiledJsonSchema | CapabilityProblem;
};

export interface PatternOptions {
  readonly ignoreCase?: boolean;
  /** Whether `.` also matches the end of a line. */
  readonly dotAll?: boolean;
}

export type PatternCapabilities = {
  readonly compilePattern: (
    pattern: string,
    options?: PatternOptions,
  ) => CompiledPattern | CapabilityProblem;
};

/**
 * Returns a value's one form, or undefined where it has none. It must be pure: a journal is decided
 * again on other machines, and at other times, with the same result. An exception counts as
 * undefined.
 */
export type CustomNormalizer = (
  value: JsonValue,
  parameters: readonly string[],
) => JsonValue | undefined;

/**
 * Value forms that need a library. Each function is total: null where the text is not such a value.
 */
export type ValueCapabilities = {
  /** The WHATWG serialization of an absolute URL. */
  readonly url: (text: string) => string | null;
  /** Plain decimal notation: no exponent, no superfluous zeros, no `-0`. */
  readonly decimal: (text: string) => string | null;
  /** One mail address with its domain in lower-case ASCII. */
  readonly email: (text: string) => string | null;
  /**
   * `+` and digits. `region` is the country whose national spellings are accepted; null: only
   * international spellings are.
   */
  readonly phone: (
    text: string,
    options: { readonly region: string | null; readonly valid: boolean },
  ) => string | null;
  /** Why numbers of a region cannot be normalized; null: they can. */
  readonly findPhoneProblem: (region: string | null) => string | null;
  /** Normalizers that the embedding program supplies, by name. */
  readonly customNormalizers?: ReadonlyMap<string, CustomNormalizer>;
};

/** The tables of programs that explain the commands of a shell. */
export type ProgramCapabilities = {
  /** Called when a policy has a tool with `commands`. It returns the same map each time. */
  readonly programs: () => Programs;
};

/** Everything that compiling a policy needs. */
export type Capabilities = SchemaCapabilities &
  PatternCapabilities &
  ValueCapabilities &
  ProgramCapabilities;
