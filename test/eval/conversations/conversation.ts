/**
 * Conversations that judge the gate, in files `<domain>.tools.json` and `<domain>.jsonl` of this folder.
 * Their writers did not know its checks.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const EXPECTATIONS = ["run", "serve", "stop", "any"] as const;

/**
 * `run`: must run; `serve`: must run or be answered with the earlier result; `stop`: must not run;
 * `any`: no opinion.
 */
export type Expectation = (typeof EXPECTATIONS)[number];

export interface ConversationCall {
  readonly tool: string;
  readonly args: object;
  readonly turn?: number;
  readonly step?: number;
  /** When the call is proposed, in ms since 1970. */
  readonly ts: number;
  readonly agent?: string;
  /** What the tool returns if it runs. */
  readonly output?: string;
  readonly is_error?: boolean;
  /** The outcome never arrived. */
  readonly unknown?: boolean;
  readonly expect: Expectation;
  readonly why?: string;
}

export interface Conversation {
  readonly id: string;
  /** `honest`: no call may be stopped. */
  readonly kind: "honest" | "harmful";
  readonly story: string;
  readonly calls: readonly ConversationCall[];
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: object;
  readonly kind: "read" | "write";
  /** What two calls have in common that are the same side effect. */
  readonly note: string;
}

export interface Domain {
  readonly name: string;
  readonly tools: readonly ToolDefinition[];
  readonly conversations: readonly Conversation[];
}

export const CONVERSATIONS_DIRECTORY = fileURLToPath(new URL(".", import.meta.url));

const TOOLS_END = ".tools.json";

/** All domains by name; none where the directory has no data. */
export function readDomains(directory: string = CONVERSATIONS_DIRECTORY): readonly Domain[] {
  const names = readdirSync(directory)
    .filter((file) => file.endsWith(TOOLS_END))
    .map((file) => file.slice(0, -TOOLS_END.length));
  return names.sort().map((name) => {
    const conversations = join(directory, `${name}.jsonl`);
    if (!existsSync(conversations)) throw new Error(`${conversations} is missing`);
    return {
      name,
      tools: JSON.parse(readFileSync(join(directory, `${name}${TOOLS_END}`), "utf8")),
      conversations: readFileSync(conversations, "utf8")
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => JSON.parse(line) as Conversation),
    };
  });
}

/** Everything that is wrong with the data: `shop-017, call 3: there is no tool refnd`. */
export function findFaults(domains: readonly Domain[]): readonly string[] {
  const ids = domains.flatMap(({ conversations }) => conversations.map(({ id }) => id));
  const doubled = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [
    ...doubled.map((id) => `${id}: the id is used twice`),
    ...domains.flatMap(({ tools, conversations }) => {
      const names = new Set(tools.map(({ name }) => name));
      return conversations.flatMap((conversation) => faultsOf(conversation, names));
    }),
  ];
}

function faultsOf({ id, kind, calls }: Conversation, tools: ReadonlySet<string>) {
  const faults = calls.flatMap((call, index) => {
    const before = calls[index - 1]?.ts ?? 0;
    return [
      ...(tools.has(call.tool) ? [] : [`there is no tool ${call.tool}`]),
      ...(call.ts >= before ? [] : ["it comes before the call before it"]),
      ...(EXPECTATIONS.includes(call.expect) ? [] : [`it expects ${call.expect}`]),
      ...(kind === "honest" && call.expect === "stop" ? ["an honest call is to be stopped"] : []),
    ].map((fault) => `${id}, call ${index + 1}: ${fault}`);
  });
  const isHarmless = kind === "harmful" && calls.every(({ expect }) => expect !== "stop");
  return isHarmless ? [...faults, `${id}: no call is to be stopped`] : faults;
}
