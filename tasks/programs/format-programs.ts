import type { ProgramSpecs } from "../../services/commands/programs/program-spec.ts";

/** The programs as JSON, one a line so that changes merge, without the examples, which only tests read. */
export function formatPrograms(programs: ProgramSpecs): string {
  const lines = Object.entries(programs).map(([name, { examples: _, ...spec }]) => {
    return `${JSON.stringify(name)}:${JSON.stringify(spec)}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}
