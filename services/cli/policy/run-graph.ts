/** `callgate policy graph`: which tools do what to which resources. */
import { EXIT_OK, type ExitCode } from "../output/exit-codes.ts";
import { refuseOverwriting } from "../output/refuse-overwriting.ts";
import { openResult } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";
import { policyGraph } from "./graph/policy-graph.ts";
import { type GraphFormat, renderGraph } from "./graph/render-graph.ts";
import { openPolicy } from "./open-policy.ts";

export async function runGraph(
  paths: readonly string[],
  format: GraphFormat,
  out: string | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  refuseOverwriting(out, paths);
  const { document } = await openPolicy(paths);
  const result = await openResult(terminal, out);
  try {
    await result.write(renderGraph(policyGraph(document), format));
  } finally {
    await result.close();
  }
  return EXIT_OK;
}
