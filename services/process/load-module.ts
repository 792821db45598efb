import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { usageError } from "./exit-error.ts";
import { onStrayError } from "./stray-errors.ts";

export type LoadedModule = {
  /** Absolute path. */
  readonly path: string;
  readonly exports: Readonly<Record<string, unknown>>;
};

/**
 * Loads a user's JavaScript module.
 *
 * @param what what the module holds, for messages: `the handlers`.
 * @throws ExitError: the file does not exist, does not parse, or throws, also in a promise.
 */
export async function loadModule(file: string, what: string): Promise<LoadedModule> {
  const path = resolve(file);
  let endStray = (): void => undefined;
  const stray = new Promise<never>((_resolve, reject) => {
    endStray = onStrayError(reject);
  });
  try {
    const module: Promise<LoadedModule["exports"]> = import(pathToFileURL(path).href);
    return { path, exports: await Promise.race([module, stray]) };
  } catch (error) {
    const why = existsSync(path) ? reasonOf(error, path) : "there is no such file; check the path";
    throw usageError(`${path}: ${what} cannot be loaded: ${why}`);
  } finally {
    endStray();
  }
}

/**
 * Node does not tell programs where a module fails to parse, so the message names a command that
 * prints it.
 */
function reasonOf(error: unknown, path: string): string {
  if (error instanceof SyntaxError) return `${error.message}; \`node --check ${path}\` says where`;
  return error instanceof Error ? error.message : String(error);
}
