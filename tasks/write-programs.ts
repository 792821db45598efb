// `npm run programs`: writes services/commands/programs.json, which the gate loads, from the YAML files that
// people edit. Parsing YAML takes a hundred times as long as parsing the same tables as JSON.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { formatPrograms } from "./programs/format-programs.ts";
import { ProgramFileError, readProgramFiles } from "./programs/read-programs.ts";

const tables = new URL("../services/commands/programs/", import.meta.url);
try {
  const programs = readProgramFiles(fileURLToPath(tables));
  writeFileSync(new URL("../programs.json", tables), formatPrograms(programs));
} catch (error) {
  if (!(error instanceof ProgramFileError)) throw error;
  process.stderr.write(`programs: ${error.message}\n`);
  process.exitCode = 1;
}
