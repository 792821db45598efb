/**
 * `run` of a rule: the first words of a command. `git push`; alternatives `git status|log|branch
 * --list`, each of which may have several words; groups `npm run {build|test}`; `*` inside a word.
 * A word with a dash is an option that the command must use, at any position: `git checkout -b`,
 * `curl --request=POST`. `make {|test}` is also `make` alone.
 */
import type { Option, ProgramNode, Programs } from "../programs/program.ts";
import type { CommandForm } from "../programs/read-command.ts";
import { fitsGlob } from "./glob.ts";

export type RunPattern =
  | {
      readonly ok: true;
      /**
       * Whether the form begins like the pattern and is understood, or is that of a program without
       * a table.
       */
      readonly fits: (form: CommandForm) => boolean;
      /** Whether each spelling has an option. */
      readonly namesOptions: boolean;
      /** Whether the words may begin like the pattern, even where options are not understood. */
      readonly mayFit: (form: CommandForm, words: readonly string[]) => boolean;
      /** Every spelling of the pattern: `["npm run build", "npm run test"]`. */
      readonly spellings: readonly string[];
      /** Parts that no command can have: options and subcommands that the program's table lacks. */
      readonly impossible: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

interface WantedOption {
  readonly spelling: string;
  /** Canonical names, from the tables that have it. */
  readonly names: ReadonlySet<string>;
  readonly value: string | null;
}

/** One spelling of the pattern. */
interface Wanted {
  readonly program: string;
  readonly words: readonly string[];
  readonly options: readonly WantedOption[];
}

const SPELLINGS_MAX = 256;
const NONE: readonly Wanted[] = [];

export function compileRun(text: string, programs: Programs): RunPattern {
  const spellings = writeOut(text.trim());
  if (typeof spellings === "string") return { ok: false, problem: spellings };
  const impossible: string[] = [];
  const all = spellings.map((words) => resolveWords(words, programs, impossible));
  const open = all.filter(({ program }) => /[*?]/.test(program));
  const byProgram = new Map<string, readonly Wanted[]>();
  for (const one of all) byProgram.set(one.program, [...(byProgram.get(one.program) ?? []), one]);
  const listFor = ({ program }: CommandForm): readonly Wanted[] => {
    const exact = byProgram.get(program) ?? NONE;
    if (open.length === 0) return exact;
    return [...exact, ...open.filter((one) => fitsGlob(one.program, program))];
  };
  return {
    ok: true,
    spellings: spellings.map((words) => words.join(" ")),
    impossible,
    namesOptions: all.every(({ options }) => options.length > 0),
    fits: (form) => listFor(form).some((wanted) => fits(wanted, form)),
    mayFit: (form, words) => listFor(form).some((wanted) => mayFit(wanted, words)),
  };
}

/** A `|` outside a group. */
const ALTERNATIVE = /\|(?![^{]*\})/;

/** Every spelling of the pattern, in words, or what is wrong with it. */
function writeOut(text: string): readonly (readonly string[])[] | string {
  if (/\s\||\|\s/.test(text))
    return "has a space beside `|`: a rule is about one command, and `|` separates words";
  const [programs = "", ...rest] = text.split(/\s+/);
  if (programs === "") return "is empty: name a program";
  const beginnings = programs.split(ALTERNATIVE);
  const ends = rest.join(" ").split(ALTERNATIVE);
  const counts = [beginnings, ends].map((some) =>
    some.reduce((sum, one) => sum + countWays(one), 0),
  );
  if (counts.reduce((product, count) => product * count) > SPELLINGS_MAX)
    return `is more than ${SPELLINGS_MAX} commands: write several rules`;
  const written = beginnings
    .flatMap(expandGroups)
    .flatMap((program) =>
      rest.length === 0
        ? [[program]]
        : ends.flatMap(expandGroups).map((end) => [program, ...end.split(" ")]),
    );
  // An empty alternative at the end means the command without more words.
  const isOptional = /\{\|[^{}]*\}$/.test(text);
  const isOdd = (word: string, at: number, { length }: readonly string[]): boolean =>
    /[{}]/.test(word) || (word === "" && !(isOptional && at > 0 && at === length - 1));
  if (/\|\||\|\}|^\||\|$/.test(text) || written.some((words) => words.some(isOdd)))
    return "has an empty alternative or a brace without the other: write `npm run {build|test}`";
  return written;
}

function countWays(text: string): number {
  const groups = text.match(/\{[^{}]*\}/g) ?? [];
  return groups.reduce((product, group) => product * group.split("|").length, 1);
}

/** One text for each alternative of the groups. */
function expandGroups(text: string): readonly string[] {
  const [group, inside = ""] = /\{([^{}]*)\}/.exec(text) ?? [];
  if (group === undefined) return [text];
  return inside.split("|").flatMap((one) => expandGroups(text.replace(group, () => one)));
}

/** Separates options from words, by the names in the program's table. */
function resolveWords(
  [name = "", ...rest]: readonly string[],
  programs: Programs,
  impossible: string[],
): Wanted {
  const program = programs.get(name);
  const nodes: ProgramNode[] = program === undefined ? [] : [program];
  const words: string[] = [];
  const options: WantedOption[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    if (word.startsWith("-")) {
      const { option, takesNext } = resolveOption(nodes, word, rest[at + 1]);
      options.push(option);
      if (takesNext) at += 1;
    } else {
      const child = nodes[words.length]?.subcommands.get(word);
      if (child !== undefined) nodes.push(child.node);
      words.push(child?.name ?? word);
    }
    if (!isPossible(nodes, words, options)) impossible.push(`\`${name}\` has no \`${word}\``);
  }
  return { program: program?.name ?? name, words, options };
}

/** An option with its value, which follows `=` or, where the table says so, is the next word. */
function resolveOption(nodes: readonly ProgramNode[], word: string, next: string | undefined) {
  const [, spelling = word, attached] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  const options = findOptions(nodes, spelling);
  const hasValue = options.some(({ values, optional }) => values.length > 0 && !optional);
  const takesNext = attached === undefined && hasValue;
  const value = attached ?? (takesNext ? next : undefined) ?? null;
  const names = new Set(options.map((one) => one.name));
  return { option: { spelling, names, value }, takesNext };
}

function findOptions(nodes: readonly ProgramNode[], spelling: string): readonly Option[] {
  const tables = nodes.flatMap((node) => [node, ...node.forms].flatMap((one) => one.tables));
  return tables.flatMap((table) => table.get(spelling) ?? []);
}

/** Whether the program's table, if it has one, has the latest word and all options. */
function isPossible(
  nodes: readonly ProgramNode[],
  words: readonly string[],
  options: readonly WantedOption[],
): boolean {
  if (nodes.length > 0 && options.some(({ names }) => names.size === 0)) return false;
  const table = nodes.length === words.length ? nodes.at(-1)?.subcommands : undefined;
  return (table?.size ?? 0) === 0 || words.at(-1)?.includes("*") === true;
}

/** Whether a form of the same program matches. */
function fits({ words, options }: Wanted, form: CommandForm): boolean {
  const own = form.path.slice(1);
  const more = [...form.operands, ...(form.inner?.words ?? [])];
  const wordAt = (at: number): string | undefined => own[at] ?? more[at - own.length];
  return (
    words.every((word, at) => fitsGlob(word, wordAt(at) ?? "")) &&
    options.every(({ spelling, names, value }) =>
      form.options.some(
        (used) =>
          (names.has(used.name) || used.name === spelling) &&
          (value === null || used.value === value),
      ),
    )
  );
}

/** Whether the words occur in their order, with any others between them. */
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

/** The option may also be in a cluster (`-rf`), with its value, or abbreviated (`--forc`). */
function mayBeOption(word: string, spelling: string): boolean {
  if (!spelling.startsWith("--")) {
    return word.startsWith("-") && !word.startsWith("--") && word.includes(spelling.slice(1));
  }
  const name = word.split("=", 1)[0] ?? "";
  return name.length > 2 && spelling.startsWith(name);
}

/**
 * Programs that execute their arguments: a rule that names only the program allows anything. `node
 * --test` is different, since it runs files of the workspace alone.
 */
export function isInterpreter(spelling: string, programs: Programs): boolean {
  const words = spelling.split(" ");
  const name = programs.get(words[0] ?? "")?.name ?? words[0] ?? "";
  if (!INTERPRETERS.test(name)) return false;
  const isOpen = (word: string): boolean =>
    (word.startsWith("-") && word !== "--test") || word === "*" || ALSO_OPEN.has(word);
  return words.slice(1).every(isOpen);
}

const ALSO_OPEN: ReadonlySet<string> = new Set(["run", "exec", "x", "dlx", "eval"]);

const INTERPRETERS =
  /^(?:\*|(?:ba|da|z|k|fi|c|tc)?sh|python[\d.]*|node|deno|bun|ruby|perl|php|lua|awk|gawk|env|xargs|sudo|doas|su|ssh|timeout|nice|nohup|time|watch|eval|exec|source|\.|npx|pnpx|bunx|uvx|npm|pnpm|yarn|poetry|uv|docker|podman|kubectl|parallel|osascript|pwsh|powershell)$/;
