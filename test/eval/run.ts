// `npm run eval`: checks its options before it loads what it runs, which takes seconds.
import { choiceOption, runnerOptions } from "../../tasks/runner-options.js";

const PARTS = ["conversations", "loop", "aura", "import"];
const { only, verbose, check } = runnerOptions("eval", {
  only: { type: "string" },
  verbose: { type: "boolean" },
  check: { type: "boolean" },
});
const options = { verbose: verbose === true, check: check === true };
if (only === undefined) {
  const { runEvaluation } = await import("./evaluate.ts");
  process.exitCode = await runEvaluation(options);
} else {
  const part = choiceOption("eval", "only", only, PARTS);
  const { runPart } = await import("./evaluate-parts.ts");
  process.exitCode = await runPart(part, options);
}
