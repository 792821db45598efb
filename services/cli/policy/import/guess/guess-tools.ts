/** Guesses about all tools of a policy, which share resources. */
import type { DeclaredEffect } from "../../../../core/policy/document.ts";
import type { ToolDefinition } from "../tool-definition.ts";
import { NEW } from "./guess-effects.ts";
import { guessTool, type ToolGuess } from "./guess-tool.ts";
import { COMPOUNDS, VERBS, WRITES_ANYWHERE } from "./lexicon.ts";
import { findPrefix, joinCompounds, splitName, withoutPrefix } from "./split-name.ts";

const SCREEN_VERBS: ReadonlySet<string> = new Set(["click", "tap", "scroll", "hotkey"]);

/** One guess for each definition, by the tool's name. */
export function guessTools(tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolGuess> {
  const names = tools.map(({ name }) => joinCompounds(splitName(name), COMPOUNDS));
  const prefix = findPrefix(names, (word) => VERBS.has(word) || WRITES_ANYWHERE.has(word));
  const around = {
    hasScreen: names.some((words) => words.some((word) => SCREEN_VERBS.has(word))),
    vocabulary: new Set(names.flat()),
  };
  const guesses = new Map<string, ToolGuess>();
  for (const [at, tool] of tools.entries()) {
    const before = guesses.get(tool.name);
    // Of several definitions of one name, one that writes counts.
    if (before !== undefined && !before.access.isRead) continue;
    guesses.set(tool.name, guessTool(tool, withoutPrefix(names[at] ?? [], prefix), around));
  }
  return connectMakers(guesses);
}

/**
 * A thing that is made by its content and deleted by its id has two names. Both calls also touch all
 * things of its kind, so that it may be made again after it was deleted.
 */
function connectMakers(guesses: ReadonlyMap<string, ToolGuess>): ReadonlyMap<string, ToolGuess> {
  const made = kindsOf(guesses, "create");
  const deleted = kindsOf(guesses, "delete");
  const shared = [...made].filter((kind) => deleted.has(kind));
  return new Map(
    [...guesses].map(([name, guess]): [string, ToolGuess] => {
      const { effects = [] } = guess.entry;
      const kind = effects.map(kindOf).find((one) => shared.includes(one));
      const kindsOfEffects = effects.map((effect) => effect.kind);
      const isPart = kindsOfEffects.includes("create") || kindsOfEffects.includes("delete");
      if (kind === undefined || !isPart || effects.some(({ resource }) => resource === kind)) {
        return [name, guess];
      }
      const all: DeclaredEffect = { resource: kind, kind: "update", exclusive: false };
      return [name, { ...guess, entry: { ...guess.entry, effects: [...effects, all] } }];
    }),
  );
}

function kindsOf(
  guesses: ReadonlyMap<string, ToolGuess>,
  kind: DeclaredEffect["kind"],
): ReadonlySet<string> {
  return new Set(
    [...guesses.values()].flatMap(({ entry }) =>
      (entry.effects ?? []).filter((effect) => effect.kind === kind).map(kindOf),
    ),
  );
}

function kindOf({ resource }: DeclaredEffect): string {
  const [base = ""] = resource.split("/");
  return base.startsWith(NEW) ? base.slice(NEW.length) : base;
}
