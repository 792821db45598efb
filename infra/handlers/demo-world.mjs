// The tools of `callgate demo` for an executor. They store their effects in `world.json` in the executor's
// working directory.
import { writeFileSync } from "node:fs";

const url = new URL("../../dist/services/cli/demo/world.js", import.meta.url);
/** @type {typeof import("../../services/cli/demo/world.ts")} */
const { createWorld } = await import(url.href);

const { world, tools } = createWorld(() => undefined);

/** @param {(args: never) => unknown} tool */
const recorded = (tool) => (/** @type {never} */ args) => {
  const output = tool(args);
  writeFileSync("world.json", JSON.stringify(world));
  return output;
};

export const handlers = Object.fromEntries(
  Object.entries(tools).map(([name, tool]) => [name, recorded(tool)]),
);
