/** `callgate policy graph`: which tools do what to which resources. */

import { openPolicy } from "../../gate/gate-policy.ts";
import { EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import { refuseOverwriting } from "../output/refuse-overwriting.ts";
import { openResult } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";
import { policyGraph } from "./graph/policy-graph.ts";
import { type GraphFormat, renderGraph } from "./graph/render-graph.ts";

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
