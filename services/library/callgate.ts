/** `callgate`: what the package gives to those who import it. */

export type { OpenOptions } from "../client/api/gate-types.ts";
export type { CustomNormalizer } from "../core/capabilities.ts";
export * from "./client.ts";
export { openCallgate } from "./open-callgate.ts";
