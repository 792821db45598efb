/** Resolves imports of the engine's `decide` to that of allow-all.ts, in a process that registers this hook. */
import type { ResolveHook } from "node:module";

const DECIDE = "/services/core/decide/decide.js";
const ALLOW_ALL = new URL("allow-all.js", import.meta.url).href;

export const resolve: ResolveHook = async (specifier, context, next) => {
  const resolved = await next(specifier, context);
  return resolved.url.endsWith(DECIDE) ? { ...resolved, url: ALLOW_ALL } : resolved;
};
