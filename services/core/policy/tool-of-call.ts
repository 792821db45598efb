import type { JsonObject } from "../canonical/json-value.ts";
import type { CompiledPolicy, CompiledTool } from "./compiled.ts";

/**
 * The tool that a call is judged by; for a composite tool the variant that its arguments choose.
 */
export function toolOfCall(policy: CompiledPolicy, name: string, args: JsonObject): CompiledTool {
  const tool = policy.tool(name);
  return tool.variantOf === null ? tool : tool.variantOf(args);
}
