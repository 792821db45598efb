// `npm run eval`: checks its options before it loads what it runs, which takes seconds.
import { runnerOptions } from "../../tasks/runner-options.js";

runnerOptions("eval", {});
const { runEvaluation } = await import("./evaluate.ts");
process.exitCode = await runEvaluation();
