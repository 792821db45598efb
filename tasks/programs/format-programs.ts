import type { ProgramTexts } from "../../services/adapters/programs/program-schema.ts";

/** The programs as JSON, one a line so that changes merge, without the examples, which only tests read. */
export function formatPrograms(programs: ProgramTexts): string {
  const lines = Object.entries(programs).map(([name, { examples: _, ...text }]) => {
    return `${JSON.stringify(name)}:${JSON.stringify(text)}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}
