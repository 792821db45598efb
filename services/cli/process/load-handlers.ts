import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Handler } from "../../client/run-call.ts";
import { usageError } from "../output/cli-error.ts";
import { onStrayError } from "./stray-errors.ts";

export type Handlers = Readonly<Record<string, Handler>>;

/**
 * The handlers of a module, by tool: its export `handlers`, else its default export, else its functions.
 *
 * @throws CliError: cannot be loaded, or holds something else than functions.
 */
export async function loadHandlers(file: string): Promise<Handlers> {
  const path = resolve(file);
  const module = await imported(path);
  const handlers = module["handlers"] ?? module["default"] ?? module;
  if (typeof handlers !== "object" || handlers === null) {
    throw usageError(`${path}: \`handlers\` must be an object of functions, by tool`);
  }
  const entries = Object.entries(handlers);
  const wrong = entries.filter(([, handler]) => typeof handler !== "function");
  if (wrong.length > 0) {
    const names = wrong.map(([name]) => `\`${name}\``).join(", ");
    throw usageError(`${path}: no functions: ${names}; export one function for each tool`);
  }
  if (entries.length === 0) {
    throw usageError(
      `${path}: exports no handlers: export \`handlers\`, one function for each tool`,
    );
  }
  return Object.fromEntries(entries) as Handlers;
}

async function imported(path: string): Promise<Readonly<Record<string, unknown>>> {
  let endStray = (): void => undefined;
  const stray = new Promise<never>((_resolve, reject) => {
    endStray = onStrayError(reject);
  });
  try {
    const module: Promise<unknown> = import(pathToFileURL(path).href);
    return (await Promise.race([module, stray])) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const why = existsSync(path) ? textOf(error, path) : "there is no such file; check the path";
    throw usageError(`${path}: the handlers cannot be loaded: ${why}`);
  } finally {
    endStray();
  }
}

/** Node knows the place of what does not parse, and does not tell it to programs. */
function textOf(error: unknown, path: string): string {
  if (error instanceof SyntaxError) return `${error.message}; \`node --check ${path}\` says where`;
  return error instanceof Error ? error.message : String(error);
}
