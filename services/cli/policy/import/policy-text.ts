/** The text of an imported policy: entries, tiers, and comments that say why. */
import { type EntryComment, formatYaml, writeYaml } from "../../../adapters/policy/write-yaml.ts";
import { describeTiers, heldTiers, proposeTiers } from "./guess/guess-tiers.ts";
import type { ToolGuess } from "./guess/guess-tool.ts";
import { describeGuess } from "./guess/render-guess.ts";

export type DefaultAction = "allow" | "ask" | "deny";

export type ImportedTool = {
  readonly name: string;
  /** Null: the definition says it all. */
  readonly guess: ToolGuess | null;
  readonly entry: object;
};

export type PolicyTextOptions = {
  readonly defaultAction?: DefaultAction;
  readonly schemaPath?: string;
  /** Recorded worlds document their tools without checking them: warn, and let the call pass. */
  readonly isRecorded: boolean;
};

const SCHEMA_PATH = "./node_modules/callgate/schemas/policy.draft-07.schema.json";
const RECORDED_CHECKS = { invalid_arguments: "warn", unknown_tool: "warn" };

/** What is not known from definitions, and harms no honest conversation that was measured (docs/evaluation.md). */
const GUESSED_BLOCKS = { checks: { failure_run: "enforce" } };
const GUESSED_COMMENT: EntryComment = {
  at: ["policy_engine", "checks"],
  lines: ["Refuses runs of failed calls; without this line the model is only warned of them."],
};

/** Formatted as by `policy fmt`, so that a layout check passes. */
export function policyText(
  tools: readonly ImportedTool[],
  { defaultAction = "allow", schemaPath = SCHEMA_PATH, isRecorded }: PolicyTextOptions,
): string {
  const isGuessed = !isRecorded && tools.some(({ guess }) => guess !== null);
  const proposals = proposeTiers(guessesOf(tools));
  const tiers = heldTiers(proposals);
  const blocks = {
    ...(isRecorded ? { checks: RECORDED_CHECKS } : isGuessed ? GUESSED_BLOCKS : {}),
    authorization: { default: defaultAction, ...(tiers.length > 0 ? { tiers } : {}) },
    tool_schemas: Object.fromEntries(tools.map(({ name, entry }) => [name, entry])),
  };
  const comments: readonly EntryComment[] = [
    ...(isGuessed ? [GUESSED_COMMENT] : []),
    { at: ["policy_engine", "authorization"], lines: describeTiers(proposals) },
    ...[...guessesOf(tools)].map(([name, guess]) => ({
      ...{ at: ["policy_engine", "tool_schemas", name], lines: describeGuess(name, guess) },
    })),
  ];
  const head = [`yaml-language-server: $schema=${schemaPath}`];
  const text = writeYaml({ policy_engine: blocks }, head, comments);
  return formatYaml(text) ?? text;
}

function guessesOf(tools: readonly ImportedTool[]): ReadonlyMap<string, ToolGuess> {
  const guesses = new Map<string, ToolGuess>();
  for (const { name, guess } of tools) if (guess !== null) guesses.set(name, guess);
  return guesses;
}
