/**
 * `run` of a rule: the first words of a command. `git push`; alternatives `git status|log|branch --list`, each of
 * which may have several words; groups `npm run {build|test}`; `*` inside of a word. A word with a dash is an option
 * that must be used, wherever it stands: `git checkout -b`, `curl --request=POST`. `make {|test}` is also `make` alone.
 */
import type { Option, ProgramNode, Programs } from "../programs/program-spec.ts";
import type { CommandForm } from "../programs/read-form.ts";
import { fitsGlob } from "./glob.ts";

export type RunPattern =
  | {
      readonly ok: true;
      /** The form is known, or is that of a program without a table, and begins so. */
      readonly fits: (form: CommandForm) => boolean;
      /** Each way to write it out has an option. */
      readonly namesOptions: boolean;
      /** The words may begin so, also where options are not known. */
      readonly mayFit: (form: CommandForm, words: readonly string[]) => boolean;
      /** Every way to write it out: `["npm run build", "npm run test"]`. */
      readonly spellings: readonly string[];
      /** Parts of it that no command can be: options and subcommands that the program's table does not have. */
      readonly impossible: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

interface WantedOption {
  readonly spelling: string;
  /** Canonical, of the tables in which it stands. */
  readonly names: ReadonlySet<string>;
  readonly value: string | null;
}

/** One way to write the pattern out. */
interface Wanted {
  readonly program: string;
  readonly words: readonly string[];
  readonly options: readonly WantedOption[];
}

const SPELLINGS_MAX = 256;
const NONE: readonly Wanted[] = [];

export function compileRun(text: string, programs: Programs): RunPattern {
  const spellings = writtenOut(text);
  if (typeof spellings === "string") return { ok: false, problem: spellings };
  const impossible: string[] = [];
  const all = spellings.map((words) => wantedOf(words, programs, impossible));
  const named = all.filter(({ program }) => !/[*?]/.test(program));
  const byName = new Map<string, readonly Wanted[]>();
  for (const one of named) byName.set(one.program, [...(byName.get(one.program) ?? []), one]);
  const open = all.filter((one) => !named.includes(one));
  const of = ({ program }: CommandForm): readonly Wanted[] => {
    const some = byName.get(program) ?? NONE;
    return open.length === 0
      ? some
      : [...some, ...open.filter((one) => fitsGlob(one.program, program))];
  };
  return {
    ok: true,
    spellings: spellings.map((words) => words.join(" ")),
    impossible,
    fits: (form) => of(form).some((wanted) => fits(wanted, form)),
    namesOptions: all.every(({ options }) => options.length > 0),
    mayFit: (form, words) => of(form).some((wanted) => mayFit(wanted, words)),
  };
}

function writtenOut(text: string): readonly (readonly string[])[] | string {
  if (/\s\||\|\s/.test(text))
    return "has a space beside `|`: a rule is about one command, and `|` stands between words";
  const parts = text.trim().split(/\s+/);
  if (parts[0] === "") return "is empty: name a program";
  const [programs = "", ...rest] = parts;
  const tails = rest.length === 0 ? [[]] : topLevel(rest.join(" ")).flatMap(expand);
  const names = expandWord(programs);
  const all = names.flatMap((name) => tails.map((tail) => [name, ...tail]));
  const isAlone = /\{\|[^{}]*\}$/.test(text.trim());
  const isOdd = (word: string, at: number, { length }: readonly string[]): boolean =>
    /[{}]/.test(word) || (word === "" && !(isAlone && at > 0 && at === length - 1));
  if (/\|\||\|\}|^\||\|$/.test(text.trim()) || all.some((words) => words.some(isOdd))) {
    return "has an empty alternative or a brace without the other: write `npm run {build|test}`";
  }
  return all.length > SPELLINGS_MAX
    ? `is more than ${SPELLINGS_MAX} commands: write several rules`
    : all;
}

/** Splits at each `|` that stands in no group. */
function topLevel(text: string): readonly string[] {
  return text.split(/\|(?![^{]*\})/);
}

function expand(text: string): readonly (readonly string[])[] {
  let made: (readonly string[])[] = [[]];
  for (const word of text.split(/ (?![^{]*\})/)) {
    const choices = expandWord(word);
    if (made.length * choices.length > SPELLINGS_MAX) return Array(SPELLINGS_MAX + 1).fill([]);
    made = made.flatMap((one) => choices.map((choice) => [...one, ...choice.split(" ")]));
  }
  return made;
}

function expandWord(word: string): readonly string[] {
  const group = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(word);
  if (group === null) return word.split("|");
  const [, before = "", inside = "", after = ""] = group;
  return inside.split("|").map((one) => `${before}${one}${after}`);
}

function wantedOf(written: readonly string[], programs: Programs, impossible: string[]): Wanted {
  const [name = "", ...rest] = written;
  const program = programs.get(name);
  const nodes: ProgramNode[] = program === undefined ? [] : [program];
  const words: string[] = [];
  const options: WantedOption[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    if (word.startsWith("-")) {
      const { option, takesNext } = optionOf(nodes, word, rest[at + 1]);
      options.push(option);
      if (takesNext) at += 1;
    } else words.push(subcommandOf(nodes, words.length, word) ?? word);
    if (!isPossible(nodes, words, options)) impossible.push(`\`${name}\` has no \`${word}\``);
  }
  return { program: program?.name ?? name, words, options };
}

/** An option with its value, which is behind `=` or, where the table says so, in the next word. */
function optionOf(nodes: readonly ProgramNode[], word: string, next: string | undefined) {
  const [, spelling = word, attached] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  const found = optionsOf(nodes, spelling);
  const hasValue = found.some(({ values, optional }) => values.length > 0 && !optional);
  const takesNext = attached === undefined && hasValue;
  const value = attached ?? (takesNext ? next : undefined) ?? null;
  const names = new Set(found.map((one) => one.name));
  return { option: { spelling, names, value }, takesNext };
}

/** The canonical name of a subcommand, whose table comes to the others. */
function subcommandOf(nodes: ProgramNode[], at: number, word: string): string | undefined {
  const found = nodes[at]?.subcommands.get(word);
  if (found !== undefined) nodes.push(found.node);
  return found?.name;
}

/** The table of the program, where it has one, has the latest word and all options. */
function isPossible(
  nodes: readonly ProgramNode[],
  words: readonly string[],
  options: readonly WantedOption[],
): boolean {
  if (nodes.length > 0 && options.some(({ names }) => names.size === 0)) return false;
  const table = nodes.length === words.length ? nodes.at(-1)?.subcommands : undefined;
  return (table?.size ?? 0) === 0 || words.at(-1)?.includes("*") === true;
}

function optionsOf(nodes: readonly ProgramNode[], spelling: string): readonly Option[] {
  const tables = nodes.flatMap((node) => [
    node.options,
    node.everywhere,
    ...node.forms.map((form) => form.options),
  ]);
  return tables.flatMap((table) => table.get(spelling) ?? []);
}

/** Of a form of its program. */
function fits({ words, options }: Wanted, form: CommandForm): boolean {
  const own = form.path.slice(1);
  const more = [...form.operands, ...(form.inner?.words ?? [])];
  const has = (at: number): string | undefined => own[at] ?? more[at - own.length];
  return (
    words.every((word, at) => fitsGlob(word, has(at) ?? "")) &&
    options.every(({ spelling, names, value }) =>
      form.options.some(
        (used) =>
          (names.has(used.name) || used.name === spelling) &&
          (value === null || used.value === value),
      ),
    )
  );
}

/** The words in their order, whatever stands between them. */
function mayFit({ words, options }: Wanted, written: readonly string[]): boolean {
  let at = 1;
  for (const word of words) {
    if (word === "") continue;
    while (at < written.length && !fitsGlob(word, written[at] ?? "")) at += 1;
    if (at >= written.length) return false;
    at += 1;
  }
  return options.every(({ spelling }) => written.some((word) => mayBeOption(word, spelling)));
}

/** Also in a cluster (`-rf`), with its value, or cut short (`--forc`). */
function mayBeOption(word: string, spelling: string): boolean {
  if (!spelling.startsWith("--")) {
    return word.startsWith("-") && !word.startsWith("--") && word.includes(spelling.slice(1));
  }
  const name = word.split("=", 1)[0] ?? "";
  return name.length > 2 && spelling.startsWith(name);
}

/** Programs that run what they are told: a rule that names no more than them allows anything. */
export function isInterpreter(spelling: string, programs: Programs): boolean {
  const words = spelling.split(" ");
  const name = programs.get(words[0] ?? "")?.name ?? words[0] ?? "";
  if (!INTERPRETERS.test(name)) return false;
  return words
    .slice(1)
    .every((word) => word.startsWith("-") || word === "*" || ALSO_OPEN.has(word));
}

const ALSO_OPEN = new Set(["run", "exec", "x", "dlx", "eval"]);

const INTERPRETERS =
  /^(?:\*|(?:ba|da|z|k|fi|c|tc)?sh|python[\d.]*|node|deno|bun|ruby|perl|php|lua|awk|gawk|env|xargs|sudo|doas|su|ssh|timeout|nice|nohup|time|watch|eval|exec|source|\.|npx|pnpx|bunx|uvx|npm|pnpm|yarn|poetry|uv|docker|podman|kubectl|parallel|osascript|pwsh|powershell)$/;
