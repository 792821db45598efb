/** What one simple command of a shell line is, by its name, its options and where its output goes. */
import { strictest, strictestOf, type VariantClass } from "../variant-class.ts";
import { classifyCommand, isKnown } from "./commands.ts";
import type { Effort } from "./effort.ts";
import { ranByFind } from "./find.ts";
import { alsoFromRoot, fromRoot, type Root, withRoots } from "./from-root.ts";
import {
  INPUTS_MAX,
  type OptionGap,
  optionGaps,
  spellCommand,
  spellInputs,
} from "./given-texts.ts";
import { isExec } from "./groups.ts";
import { namesOf, PYTHON, underUsualName } from "./names.ts";
import { parseShell } from "./parse-shell.ts";
import type { Ran } from "./ran.ts";
import { ranBy } from "./ran-commands.ts";
import {
  endOfOptions,
  inEachShell,
  type ShellCommand,
  type ShellWord,
  textOf,
} from "./shell-line.ts";

/** Targets that hold nothing. */
const NOWHERE = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"]);

/** Variables that change how output looks and nothing else. */
const HARMLESS_ASSIGNMENT =
  /^(?:LANG|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|CI|PYTHONDONTWRITEBYTECODE)=|^(?:GIT_|MAN)?PAGER=cat$/;

/** Files that grow or change without any call: logs, and what the kernel shows. */
const MOVING = /^\/(?:proc|sys|dev(?!\/null)|var\/log)(?:\/|$)|\.log$/;

/** What one command is, and what rules may know it by. */
export interface CommandReading {
  readonly class: VariantClass;
  /** Its words, joined by single spaces; then without options before the subcommand, of the commands that it runs, and with the files that its input comes from. The first is its own. */
  readonly texts: readonly string[];
  /** Where an option may stand that is not seen. */
  readonly gaps: readonly OptionGap[];
  /** Something that nobody sees may run, too. */
  readonly hidden: boolean;
  /** Programs and groups of subcommands of which another one may run than the words say: rules that can fit one of them count. */
  readonly unseenOf: readonly string[];
  /** What it is beside its words: by where its output goes, variables before it, the background. */
  readonly beside: VariantClass;
}

/** Lines in lines in lines. */
const DEPTH_MAX = 8;

/** Where a command stands. */
interface Place {
  /** Shared with all other commands of the line. */
  readonly effort: Effort;
  /** Lines in lines around it. */
  readonly depth: number;
  /** Files that the input of it comes from. */
  readonly inputs: readonly ShellWord[];
  /** Where the line went before. */
  readonly root: Root;
}

const OUTSIDE = { depth: 0, inputs: [], root: "" } as const;

/** Once the effort is spent, what comes of it says nothing of the command. */
export function readCommands(
  commands: readonly ShellCommand[],
  effort: Effort,
): readonly CommandReading[] {
  return readAll(commands, { ...OUTSIDE, effort });
}

function readAll(commands: readonly ShellCommand[], place: Place): readonly CommandReading[] {
  return withRoots(inEachShell(commands), place.root).map(([command, root]) =>
    readCommand(command, { ...place, root }),
  );
}

function readCommand(command: ShellCommand, place: Place): CommandReading {
  const { words, outputs, assignments, background, hasText } = command;
  const inputs = distinct([...command.inputs, ...place.inputs]);
  const written = outputs.some(({ text, open }) => open || !NOWHERE.has(text));
  const sets = !assignments.every((one) => HARMLESS_ASSIGNMENT.test(one));
  // What is set stays set for the lines after it, and may change what a command does.
  const beside = written ? "write" : sets || background ? "run" : "read";
  const read = readWords(words, { ...place, inputs: inputs.slice(0, INPUTS_MAX) });
  const moves = [...words, ...inputs].some(({ text }) => MOVING.test(text)) ? "watch" : "read";
  const found = strictestOf([beside, read.class, moves]);
  // A program that stands in the line itself: equal lines are equal programs.
  const own = hasText && found === "run" ? "write" : found;
  const hidden = read.hidden || inputs.length > INPUTS_MAX;
  return { ...read, hidden, class: own, beside };
}

function distinct(inputs: readonly ShellWord[]): readonly ShellWord[] {
  return inputs.length < 2 ? inputs : [...new Map(inputs.map((one) => [one.text, one])).values()];
}

type WordsReading = Omit<CommandReading, "beside">;

function readWords(words: readonly ShellWord[], place: Place): WordsReading {
  const { effort, depth } = place;
  const [first] = words;
  if (effort.isSpent) return UNREAD;
  const text = effort.spend(textOf(words));
  if (first === undefined) return { ...SEEN, texts: [text, ...asCat(place)] };
  // The command itself is only known when it runs. `[` alone looks like a glob and is none.
  if (first.open && first.text !== "[" && first.text !== "[[") {
    return { ...UNREAD, texts: [text] };
  }
  const slash = first.text.lastIndexOf("/");
  if (slash >= 0) return readByName(words, slash, place);
  const usual = underUsualName(words);
  const ran = first.text === "find" ? ranByFind(words) : ranBy(words);
  if ((usual !== null || ran !== null) && depth >= DEPTH_MAX) return UNREAD;
  const inside = { ...place, depth: depth + 1 };
  if (usual !== null) return readAsUsual(words, usual, inside);
  if (ran !== null) return withRan(words, ran, inside);
  const own = readOwn(words, classifyCommand, place);
  const more = isKnown(first.text) ? [] : behindHyphens(words, inside);
  return { ...own, texts: [...own.texts, ...more] };
}

/** Under the name that rules know. */
function readAsUsual(
  words: readonly ShellWord[],
  usual: readonly ShellWord[],
  place: Place,
): WordsReading {
  const { effort, inputs } = place;
  const [first] = words as readonly [ShellWord, ...ShellWord[]];
  const text = textOf(words);
  const given = inputs.length === 0 ? [] : [effort.spend(`${text} ${textOf(inputs)}`)];
  const named = within([text, ...given], first, readWords(usual, place));
  return PYTHON.test(first.text) ? { ...named, class: classifyCommand(words) } : named;
}

/** What stands behind two hyphens may be a command, where nothing is known of the program. */
function behindHyphens(words: readonly ShellWord[], place: Place): readonly string[] {
  const given = words.slice(endOfOptions(words) + 1);
  return given.length === 0 || place.depth > DEPTH_MAX ? [] : readWords(given, place).texts;
}

/** Without what it runs. */
function readOwn(
  words: readonly ShellWord[],
  classify: typeof classifyCommand,
  { effort, inputs, root }: Place,
): WordsReading {
  const { texts, commands, plain, hidden, mayBeOther, openGroups } = spellCommand(words);
  const rooted = fromRoot(words, root);
  const [given = "", ...more] = texts;
  const all = [given, ...more.map((text) => effort.spend(text))];
  if (rooted !== words) all.push(...spellCommand(rooted).texts.map((text) => effort.spend(text)));
  for (const text of spellInputs(rooted, alsoFromRoot(inputs, root))) {
    if (effort.isSpent) return UNREAD;
    all.push(effort.spend(text));
  }
  const gaps = optionGaps(words, commands);
  effort.spendOnGaps(gaps);
  const found = classify(words, plain ?? words);
  const own = mayBeOther ? words.slice(0, 1).map((word) => word.text) : [];
  // Of an alias nobody sees what it is given: each rule counts that can fit what begins so.
  const begun = words.at(-1)?.given === "line" ? [textOf(words.slice(0, -1))] : [];
  const unseenOf = [...new Set([...own, ...openGroups, ...begun].flatMap(namesOf))];
  return {
    class: unseenOf.length > 0 ? strictest("run", found) : found,
    texts: all,
    gaps,
    hidden,
    unseenOf,
  };
}

/** `$(< a)` says what is in the file, and so may whatever comes after `exec < a`. */
function asCat({ effort, inputs: given, root }: Place): readonly string[] {
  if (given.length === 0) return [];
  const inputs = alsoFromRoot(given, root);
  const alone = inputs.length > 1 ? inputs.map(({ text }) => `cat ${text}`) : [];
  const texts = [` ${textOf(inputs)}`, `cat ${textOf(inputs)}`, ...alone];
  return texts.map((text) => effort.spend(text));
}

const SEEN: WordsReading = { class: "read", texts: [], gaps: [], hidden: false, unseenOf: [] };
const UNREAD: WordsReading = { ...SEEN, class: "write", hidden: true };

/** The same command by another name, or what a command runs: what is not seen of it is not seen of both. */
function within(
  texts: readonly string[],
  { text: name }: ShellWord,
  inner: WordsReading,
): WordsReading {
  const unseenOf = inner.unseenOf.length > 0 ? [...new Set([name, ...inner.unseenOf])] : [];
  return { ...inner, texts: [...texts, ...inner.texts], unseenOf };
}

/** Where the programs of a system lie, so that the name says what it does. */
const SYSTEM = /^\/(?:.*\/)?(?:s?bin|git-core)\/[^/]+$/;

/** A program by its path may be any; rules know it by its name, too. */
function readByName(words: readonly ShellWord[], slash: number, place: Place): WordsReading {
  const [first, ...rest] = words as readonly [ShellWord, ...ShellWord[]];
  const named = readWords([{ ...first, text: first.text.slice(slash + 1) }, ...rest], place);
  const found = SYSTEM.test(first.text) ? strictest("run", named.class) : "run";
  return { ...within([textOf(words)], first, named), class: found };
}

function withRan(words: readonly ShellWord[], ran: Ran, place: Place): WordsReading {
  const { effort } = place;
  const [first] = words;
  // What is said of the commands that it runs says what it is.
  const own = readOwn(words, () => "read", place);
  const inner = [own, ...ran.commands.map((one) => readWords(one, place))];
  for (const line of ran.lines) {
    const read = effort.isSpent ? null : parseShell(line);
    // With a part that is not seen, it need not be the line that runs.
    if (read === null) inner.push(ran.hidden ? { ...UNREAD, class: "run" } : UNREAD);
    else inner.push(...readAll(read.commands, place));
  }
  const unseenOf = inner.flatMap((one) => one.unseenOf);
  const texts = inner.flatMap((one) => one.texts);
  return {
    class: strictestOf([ran.floor, ...inner.map((one) => one.class)]),
    texts: [...new Set(isExec(words) ? [...texts, ...asCat(place)] : texts)],
    gaps: inner.flatMap((one) => one.gaps),
    hidden: ran.hidden || inner.some((one) => one.hidden),
    unseenOf: unseenOf.length > 0 ? [...new Set([first?.text ?? "", ...unseenOf])] : [],
  };
}
