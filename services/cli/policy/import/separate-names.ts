/** Keeps tools of one name apart that belong to several servers. */
import type { AddNote, ToolDefinition } from "./tool-definition.ts";

export type SourceDefinitions = {
  /** Of the file or server. */
  readonly name: string;
  readonly definitions: readonly ToolDefinition[];
};

/** Tools that several sources have become `source/tool`; the gate must see them under that name. */
export function separateNames(
  sources: readonly SourceDefinitions[],
  note: AddNote,
): readonly ToolDefinition[] {
  const owners = new Map<string, Set<number>>();
  sources.forEach(({ definitions }, at) => {
    for (const { name } of definitions) owners.set(name, (owners.get(name) ?? new Set()).add(at));
  });
  const servers = serverNames(sources.map(({ name }) => name));
  return sources.flatMap(({ definitions }, at) =>
    definitions.map((definition) => {
      if ((owners.get(definition.name)?.size ?? 0) < 2) return definition;
      const name = `${servers[at]}/${definition.name}`;
      note(name, "$.name", "is in several sources: call it by this name at the gate");
      return { ...definition, name };
    }),
  );
}

/** `github.tools.json` is the server `github`; equal ones get their number. */
function serverNames(names: readonly string[]): readonly string[] {
  const short = names.map((name) => name.split(".")[0]?.replaceAll(/[^\w-]+/g, "-") || "server");
  return short.map((name, at) =>
    short.indexOf(name) === at
      ? name
      : `${name}-${short.slice(0, at + 1).filter((one) => one === name).length}`,
  );
}
