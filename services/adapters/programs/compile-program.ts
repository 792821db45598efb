/** Compiles the description of a program into lookup tables. */
import type { Form, OptionTable, Program, ProgramNode } from "../../commands/programs/program.ts";
import {
  type FormSpec,
  type NodeSpec,
  type OptionSpec,
  type ProgramSpec,
  type SetSpec,
  takesRest,
} from "./program-schema.ts";

/** An error in the data. `keys`: its path, from the program inwards. */
export class ProgramFault extends Error {
  readonly keys: readonly string[];

  constructor(keys: readonly string[], problem: string) {
    super(problem);
    this.keys = keys;
  }
}

const FLAG: OptionSpec = { effect: "none", values: [], optional: false };
const SPELLING = /^(?:--?[\w.:?@-]+|-#|\+\w+|[a-z]+=|[()]|[=!]=?)$/;

export function splitNames(key: string, separator: "," | "|"): readonly string[] {
  return key.split(separator).map((name) => name.trim());
}

/** @throws ProgramFault at the first error. */
export function compileProgram(spec: ProgramSpec, name: string): Program {
  const { bundle, loose, globs, hosts, sets = {} } = spec;
  return { ...compileNode(spec, sets, [], []), name, bundle, loose, globs, hosts };
}

type Sets = Readonly<Record<string, SetSpec>>;

function compileNode(
  spec: NodeSpec,
  sets: Sets,
  keys: readonly string[],
  outer: readonly OptionTable[],
): ProgramNode {
  const { everywhere } = spec;
  const above = everywhere === undefined ? outer : [...outer, tableOf([everywhere], keys)];
  const children = Object.entries(spec.subcommands ?? {}).map(
    ([key, child]) => [key, compileNode(child, sets, [...keys, key], above)] as const,
  );
  const written = formsOf(spec, keys);
  if (written.length === 0 && children.length === 0)
    throw new ProgramFault(keys, "needs `does`, `forms` or `subcommands`");
  const own = setsOf(spec, sets, keys);
  const forms = written.map((form): Form => {
    const all = form === spec ? own : [...own, ...setsOf(form, sets, keys)];
    return compileForm({ does: spec.does, ...form }, [tableOf(all, keys), ...above], keys);
  });
  const subcommands = indexSubcommands(children, keys);
  return { tables: [tableOf(own, keys), ...above], forms, subcommands };
}

function indexSubcommands(
  children: readonly (readonly [string, ProgramNode])[],
  keys: readonly string[],
): ProgramNode["subcommands"] {
  const subcommands = new Map<string, { name: string; node: ProgramNode }>();
  for (const [key, node] of children) {
    for (const names of splitNames(key, "|")) {
      const [name = "", ...others] = splitNames(names, ",");
      for (const one of [name, ...others]) {
        if (subcommands.has(one)) throw new ProgramFault(keys, `${one} is there twice`);
        subcommands.set(one, { name, node });
      }
    }
  }
  return subcommands;
}

function formsOf(spec: NodeSpec, keys: readonly string[]): readonly FormSpec[] {
  if (spec.forms === undefined) return spec.does === undefined ? [] : [spec];
  if (spec.operands === undefined && spec.needs === undefined) return spec.forms;
  throw new ProgramFault(keys, "`operands` and `needs` belong into each of its `forms`");
}

/** Options end before a command, or before words that belong to another program. */
function compileForm(
  { does, operands = [], needs, lists = false }: FormSpec,
  tables: readonly OptionTable[],
  keys: readonly string[],
): Form {
  if (does === undefined) throw new ProgramFault(keys, "needs `does`");
  const canonical = (needs ?? []).map((spelling) => {
    const option = tables.find((table) => table.has(spelling))?.get(spelling);
    if (option !== undefined) return option.name;
    throw new ProgramFault(keys, `\`needs\` names ${spelling}, which is none of its options`);
  });
  const at = operands.findIndex(takesRest);
  const command = operands.find((one) => takesRest(one) && one.kind !== "rest") ?? null;
  const plain = operands.filter((one) => one !== command);
  const assignments = operands[0]?.kind === "assignment";
  return {
    does,
    tables,
    operands: plain,
    command,
    least: plain.filter(({ repeat, kind }) => repeat === "once" && kind !== "rest").length,
    limit: at < 0 ? Number.POSITIVE_INFINITY : assignments ? 0 : at,
    assignments,
    needs: needs === undefined ? null : new Set(canonical),
    lists,
  };
}

/** The option sets that a form uses, and its own. */
function setsOf(spec: FormSpec, sets: Sets, keys: readonly string[]): readonly SetSpec[] {
  const used = (spec.uses ?? []).map((name) => {
    const set = sets[name];
    if (set === undefined) throw new ProgramFault(keys, `there is no set ${name}`);
    return set;
  });
  return [...used, spec];
}

function tableOf(sets: readonly SetSpec[], keys: readonly string[]): OptionTable {
  const table: Map<string, OptionSpec & { name: string }> = new Map();
  for (const { flags = [], options = {} } of sets) {
    const written = [...flags.map((key) => [key, FLAG] as const), ...Object.entries(options)];
    for (const [key, kind] of written) {
      const spellings = splitNames(key, ",");
      const name = spellings.find((spelling) => spelling.startsWith("--")) ?? spellings[0] ?? "";
      const option = { name, ...kind };
      for (const spelling of spellings) {
        if (!SPELLING.test(spelling))
          throw new ProgramFault([...keys, key], `${spelling} is not a valid option`);
        if (table.has(spelling)) throw new ProgramFault(keys, `${spelling} is there twice`);
        table.set(spelling, option);
      }
    }
  }
  return table;
}
