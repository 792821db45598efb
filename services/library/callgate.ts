/** `callgate`: the main export of the package. */

export type { OpenOptions } from "../client/api/gate-types.ts";
export type { OpenLimits } from "../client/api/open-limits.ts";
export type { CustomNormalizer } from "../core/capabilities.ts";
export * from "./client.ts";
export { openCallgate } from "./open-callgate.ts";
