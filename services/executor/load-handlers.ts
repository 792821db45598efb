import type { Handler } from "../client/calls/run-call.ts";
import { usageError } from "../process/exit-error.ts";
import { loadModule } from "../process/load-module.ts";

export type Handlers = Readonly<Record<string, Handler>>;

/**
 * The handlers of a module, by tool: its export `handlers`, else its default export, else its
 * functions.
 *
 * @throws ExitError: the module cannot be loaded, or contains something else than functions.
 */
export async function loadHandlers(file: string): Promise<Handlers> {
  const { path, exports } = await loadModule(file, "the handlers");
  const handlers = exports["handlers"] ?? exports["default"] ?? exports;
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
