/** Makes tables that can be looked up from the data of the programs, and finds faults in the data. */
import {
  type Form,
  type FormSpec,
  type NodeSpec,
  type Operand,
  type OperandShape,
  type Option,
  type OptionEffect,
  type OptionTable,
  type Program,
  type ProgramNode,
  type ProgramSpec,
  type ProgramSpecs,
  type Programs,
  type SetSpec,
  WORD_KINDS,
  type WordKind,
} from "./program-spec.ts";

/** A fault of the data. `keys`: where it is, from the program's name inwards. */
export class ProgramSpecError extends Error {
  readonly keys: readonly string[];

  constructor(keys: readonly string[], problem: string) {
    super(`program ${keys.join(" > ")}: ${problem}`);
    this.name = "ProgramSpecError";
    this.keys = keys;
  }
}

type Sets = Readonly<Record<string, SetSpec>>;

const EFFECTS: ReadonlySet<string> = new Set(["watches", "runs", "writes", "sends", "unsafe"]);
const KINDS: ReadonlySet<string> = new Set(WORD_KINDS);
const COMMANDS: ReadonlySet<string> = new Set(["command", "fed-command"]);
const STOPS: ReadonlySet<string> = new Set(["command", "fed-command", "rest"]);
const SPELLING = /^(?:--?[\w.:?@-]+|-#|\+\w+|[a-z]+=|[()]|[=!]=?)$/;

/**
 * Every program under each of its names.
 * @throws ProgramSpecError at the first fault
 */
export function compilePrograms(specs: ProgramSpecs): ReadonlyMap<string, Program> {
  const programs = new Map<string, Program>();
  for (const [key, spec] of Object.entries(specs)) {
    const program = compileProgram(spec, key);
    for (const [name, canonical] of namesOf(key, spec)) {
      if (programs.has(name)) throw new ProgramSpecError([key], `${name} is there twice`);
      programs.set(name, { ...program, name: canonical });
    }
  }
  return programs;
}

/**
 * The same of data that has no fault: a program is compiled when it is first asked for, since a
 * policy and its calls use few of them.
 */
export function compileProgramsOnDemand(specs: ProgramSpecs): Programs {
  const keys = new Map<string, { readonly key: string; readonly canonical: string }>();
  for (const [key, spec] of Object.entries(specs)) {
    for (const [name, canonical] of namesOf(key, spec)) keys.set(name, { key, canonical });
  }
  const compiled = new Map<string, Program>();
  const get = (name: string): Program | undefined => {
    const source = keys.get(name);
    const spec = source && specs[source.key];
    if (source === undefined || spec === undefined) return undefined;
    const program = compiled.get(name) ?? {
      ...compileProgram(spec, source.key),
      name: source.canonical,
    };
    compiled.set(name, program);
    return program;
  };
  return { get, has: (name) => keys.has(name) };
}

/** Each name of a program, and the one that is canonical for it. */
function namesOf(key: string, spec: ProgramSpec): readonly (readonly [string, string])[] {
  return splitNames(key, "|").flatMap((canonical) =>
    [canonical, ...(spec.also ?? [])].map((name) => [name, canonical] as const),
  );
}

function compileProgram(spec: ProgramSpec, name: string): Program {
  return {
    ...compileNode(spec, spec.sets ?? {}, [name], []),
    name,
    bundle: spec.bundle ?? false,
    loose: spec.loose ?? false,
    globs: spec.globs ?? false,
    hosts: spec.hosts ?? false,
  };
}

function compileNode(
  spec: NodeSpec,
  sets: Sets,
  keys: readonly string[],
  outer: readonly OptionTable[],
): ProgramNode {
  const everywhere = compileOptions([spec.everywhere ?? {}], [...keys, "everywhere"]);
  const above = everywhere.size === 0 ? outer : [...outer, everywhere];
  const subcommands = new Map<string, { name: string; node: ProgramNode }>();
  for (const [key, child] of Object.entries(spec.subcommands ?? {})) {
    const node = compileNode(child, sets, [...keys, key], above);
    for (const names of splitNames(key, "|")) {
      const [name = "", ...others] = splitNames(names);
      for (const known of [name, ...others]) {
        if (subcommands.has(known)) throw new ProgramSpecError(keys, `${known} is there twice`);
        subcommands.set(known, { name, node });
      }
    }
  }
  const forms = formsOf(spec, keys).map((form, index) =>
    compileForm(spec, form, above, sets, spec.forms ? [...keys, `forms ${index + 1}`] : keys),
  );
  if (forms.length === 0 && subcommands.size === 0) {
    throw new ProgramSpecError(keys, "needs `does`, `forms` or `subcommands`");
  }
  const options = compileOptions(optionSets(spec, sets, keys), keys);
  return { options, everywhere, tables: [options, ...above], forms, subcommands };
}

function formsOf(spec: NodeSpec, keys: readonly string[]): readonly FormSpec[] {
  if (spec.forms === undefined) return spec.does === undefined ? [] : [spec];
  if (spec.operands !== undefined || spec.needs !== undefined) {
    throw new ProgramSpecError(keys, "`operands` and `needs` belong into each of its `forms`");
  }
  return spec.forms;
}

function compileForm(
  parent: NodeSpec,
  spec: FormSpec,
  above: readonly OptionTable[],
  sets: Sets,
  keys: readonly string[],
): Form {
  const own = parent === spec ? [] : optionSets(spec, sets, keys);
  const options = compileOptions([...optionSets(parent, sets, keys), ...own], keys);
  const does = spec.does ?? parent.does;
  if (does === undefined) throw new ProgramSpecError(keys, "needs `does`");
  const tables = [options, ...above];
  const canonical = (spelling: string): string => {
    const option = tables.find((table) => table.has(spelling))?.get(spelling);
    if (option !== undefined) return option.name;
    throw new ProgramSpecError(keys, `\`needs\` names ${spelling}, which is none of its options`);
  };
  const needs = spec.needs === undefined ? null : new Set(spec.needs.map(canonical));
  const operands = compileOperands(spec.operands ?? [], keys);
  const shape = shapeOf(operands);
  return { does, options, tables, operands, shape, needs, lists: spec.lists ?? false };
}

/** Where a form takes a command, or words that are none of its own, options end before it. */
function shapeOf(operands: readonly Operand[]): OperandShape {
  const command = operands.find(({ kind }) => COMMANDS.has(kind)) ?? null;
  const plain = operands.filter((one) => one !== command);
  const least = plain.filter(({ repeat, kind }) => repeat === "once" && kind !== "rest").length;
  const assignments = operands[0]?.kind === "assignment";
  const at = operands.findIndex(({ kind }) => STOPS.has(kind));
  const limit = at < 0 ? Number.POSITIVE_INFINITY : assignments ? 0 : at;
  return { plain, command, least, limit, assignments };
}

function optionSets(spec: FormSpec, sets: Sets, keys: readonly string[]): readonly SetSpec[] {
  const used = (spec.uses ?? []).map((name) => {
    const set = sets[name];
    if (set === undefined) throw new ProgramSpecError(keys, `there is no set ${name}`);
    return set;
  });
  return [...used, spec];
}

function compileOptions(specs: readonly SetSpec[], keys: readonly string[]): OptionTable {
  const table = new Map<string, Option>();
  const add = (key: string, kind: string): void => {
    const spellings = splitNames(key);
    const name = spellings.find((spelling) => spelling.startsWith("--")) ?? spellings[0] ?? "";
    const option = compileOption(name, kind, [...keys, key]);
    for (const spelling of spellings) {
      if (!SPELLING.test(spelling)) {
        throw new ProgramSpecError([...keys, key], `${spelling} is no spelling of an option`);
      }
      if (table.has(spelling)) throw new ProgramSpecError(keys, `${spelling} is there twice`);
      table.set(spelling, option);
    }
  };
  for (const { flags = [], options = {} } of specs) {
    for (const flag of flags) add(flag, "flag");
    for (const [key, kind] of Object.entries(options)) add(key, kind);
  }
  return table;
}

/** A kind is `flag`, or an effect and the kinds of the values: `writes`, `path`, `writes optional`. */
function compileOption(name: string, text: string, keys: readonly string[]): Option {
  const words = text.split(" ").filter((word) => word !== "" && word !== "flag");
  const effect = EFFECTS.has(words[0] ?? "") ? (words.shift() as OptionEffect) : "none";
  const optional = words[0] === "optional";
  if (optional) words.shift();
  if (optional && words.length === 0) words.push("value");
  if (optional && words.length > 1) {
    throw new ProgramSpecError(keys, "an optional value is one value");
  }
  const values = words.map((word) => compileKind(word, keys));
  if (values.some(({ kind }, at) => STOPS.has(kind) && (kind !== "rest" || at === 0))) {
    throw new ProgramSpecError(keys, "a command is an operand, and `rest` follows on a value");
  }
  return { name, effect, values, optional };
}

function compileOperands(texts: readonly string[], keys: readonly string[]): readonly Operand[] {
  const operands = texts.map((text): Operand => {
    const end = /(?:\.\.\.|\?)$/.exec(text)?.[0] ?? "";
    const repeat = end === "..." ? "many" : end === "?" ? "maybe" : "once";
    return { ...compileKind(text.slice(0, text.length - end.length), keys), repeat };
  });
  if (operands.filter(({ repeat }) => repeat === "many").length > 1) {
    throw new ProgramSpecError(keys, "only one kind of operand may be repeated");
  }
  if (operands.slice(0, -1).some(({ kind }) => STOPS.has(kind))) {
    throw new ProgramSpecError(keys, "`command` and `rest` take all that follows: write them last");
  }
  return operands;
}

function compileKind(text: string, keys: readonly string[]): WordKind {
  if (text.includes("|")) return { kind: "word", choices: new Set(text.split("|")) };
  if (text.startsWith("=")) return { kind: "word", choices: new Set([text.slice(1)]) };
  if (KINDS.has(text)) return { kind: text as WordKind["kind"], choices: null };
  throw new ProgramSpecError(keys, `there is no kind ${text}: use ${WORD_KINDS.join(", ")}`);
}

function splitNames(key: string, separator = ","): readonly string[] {
  return key.split(separator).map((name) => name.trim());
}
