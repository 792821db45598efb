// Measures one thing in a process of its own and prints its rows as one line of JSON, the last:
//   node child.js <what> <options as JSON>
import { register } from "node:module";
import type { BenchRow } from "./bench-row.ts";
import type { Checks } from "./engine.ts";
import type { ManyConversations } from "./many-conversations.ts";
import type { PipelineGate, PipelineLoad } from "./pipeline.ts";
import type { SoakLoad } from "./soak.ts";
import type { Filling } from "./start.ts";
import type { ZipfLoad } from "./zipf.ts";

type Options = Readonly<Record<string, unknown>>;
type Child = (options: Options) => Promise<readonly BenchRow[]>;

/**
 * Each measurement loads only its own modules, since the time to the first decision is measured
 * too.
 */
const CHILDREN: Readonly<Record<string, Child>> = {
  canonical: async () => (await import("./canonical.ts")).benchCanonical(),
  commands: async () => (await import("./shell-lines.ts")).benchShellLines(),
  "command-calls": async () => (await import("./command-calls.ts")).benchCommandCalls(),
  codec: async () => (await import("./codec.ts")).benchCodec(),
  engine: async ({ length, checks = "ordinary" }) =>
    (await import("./engine.ts")).benchEngine(Number(length), checks as Checks),
  "peer-calls": async ({ directory }) =>
    (await import("./peer-calls.ts")).benchPeerCalls(String(directory)),
  pipeline: async ({ gate, load }) => {
    if (gate === "allow all") register("./allow-all-hook.js", import.meta.url);
    const { benchPipeline } = await import("./pipeline.ts");
    return benchPipeline(gate as PipelineGate, load as PipelineLoad);
  },
  fill: async (filling) => (await import("./start.ts")).fillDirectory(filling as Filling),
  start: async ({ dataDir, name }) =>
    (await import("./start.ts")).benchStart(String(dataDir), String(name)),
  restore: async ({ dataDir }) => (await import("./restore.ts")).benchRestore(String(dataDir)),
  "many-conversations": async (load) =>
    (await import("./many-conversations.ts")).benchManyConversations(load as ManyConversations),
  soak: async (load) => (await import("./soak.ts")).benchSoak(load as SoakLoad),
  zipf: async (load) => (await import("./zipf.ts")).benchZipf(load as ZipfLoad),
  state: async () => (await import("./state.ts")).benchState(),
  "state-of-every-check": async () => (await import("./state.ts")).benchStateOfEveryCheck(),
};

const [what = "", options = "{}"] = process.argv.slice(2);
const child = CHILDREN[what];
if (child === undefined) throw new Error(`nothing is called \`${what}\``);
process.stdout.write(`${JSON.stringify(await child(JSON.parse(options)))}\n`);
