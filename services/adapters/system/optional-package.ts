import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export type OptionalPackage<T> =
  | { readonly ok: true; readonly loaded: T }
  /** `problem` says what is missing and how to install it. */
  | { readonly ok: false; readonly problem: string; readonly cause: unknown };

/**
 * Loads a package that an installation may leave out, since it is large or has native parts. Loads
 * synchronously, so that a function that needs it may stay synchronous.
 */
export function loadOptional<T>(name: string): OptionalPackage<T> {
  try {
    return { ok: true, loaded: require(name) as T };
  } catch (cause) {
    return { ok: false, problem: describe(name, cause), cause };
  }
}

function describe(name: string, cause: unknown): string {
  const remedy = "run `npm install` without `--omit=optional`";
  const text = cause instanceof Error ? cause.message : String(cause);
  if (codeOf(cause) === "MODULE_NOT_FOUND" && text.includes(`'${name}'`)) {
    return `the optional package ${name} is not installed: ${remedy}`;
  }
  return `the optional package ${name} cannot be loaded (${text.split("\n", 1)[0]}): ${remedy}`;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}
