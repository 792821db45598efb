/** What a command is known by besides its words: with the files that its input comes from, and without words that may be none. */
import { type ShellWord, textOf } from "./shell-line.ts";
import { type Spellings, spellSubcommand } from "./spell-subcommand.ts";
import type { Spelled } from "./subcommand-groups.ts";

type Words = readonly ShellWord[];

/** More files at one command are not looked at: which one it reads nobody knows then. */
export const INPUTS_MAX = 8;

/** They take nothing from their input that they would take from a file: `rm < a` is no `rm a`. */
const READS_NO_INPUT = new Set(
  (
    "rm rmdir unlink mkdir mv cp touch ln chmod chown chgrp kill pkill killall echo printf true false : test [ [[ cd pushd popd " +
    "export unset sleep exit return shift wait date seq basename dirname pwd ls stat"
  ).split(" "),
);

/** The words that are there whatever the expansions bring. */
export function surely(words: Words): Words {
  return words.some(mayBeNone) ? words.filter((word) => !mayBeNone(word)) : words;
}

function mayBeNone({ text, splits, isBare, open }: ShellWord): boolean {
  return text === "" && open && (splits || isBare === true);
}

/** Its words are among the texts, the first of them. */
export function spellCommand(words: Words): Spellings {
  const spelled = spellSubcommand(words);
  const texts = [textOf(words), ...spelled.texts];
  const sure = surely(words);
  if (sure !== words) texts.push(textOf(sure), ...spellSubcommand(sure).texts);
  return { ...spelled, texts };
}

/** `cat < a` is `cat a`, and so is `cat - < a`; of several files it may read each, or all. */
export function* spellInputs(words: Words, inputs: Words): Generator<string> {
  const isRead = inputs.length > 0 && !READS_NO_INPUT.has(words[0]?.text ?? "");
  if (!isRead) return;
  const all = inputs.length > 1 ? [inputs, ...inputs.map((one) => [one])] : [inputs];
  for (const files of all) {
    for (const text of spellCommand([...words, ...files]).texts) yield text;
    if (!words.some(isInput)) continue;
    const named = words.flatMap((word) => (isInput(word) ? files : [word]));
    yield* spellCommand(named).texts;
  }
}

/** Names of what a command is given. */
const INPUT = /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/;

function isInput({ text }: ShellWord): boolean {
  return INPUT.test(text);
}

/** A place where a word may turn out to be an option: what is written before it and behind it. */
export interface OptionGap {
  readonly before: string;
  readonly after: string;
}

/** Of one spelling of a command: the first ones are tried. */
const GAPS_MAX = 4;

/** Where an expansion without quotes stands as options do: before the first operand behind values of options, and not as the only one; and where an input brings words. */
export function optionGaps(words: Words, spelled: readonly Spelled[]): readonly OptionGap[] {
  const found = new Map<string, OptionGap>();
  for (const one of [{ words, from: 1 }, ...spelled]) {
    for (const gap of gapsOf(one)) found.set(`${gap.before}\n${gap.after}`, gap);
  }
  return [...found.values()];
}

function gapsOf({ words, from }: Spelled): readonly OptionGap[] {
  const gaps: OptionGap[] = [];
  if (words.at(-1)?.given !== undefined) gaps.push({ before: textOf(surely(words)), after: "" });
  for (let at = 1; at < words.length && gaps.length < GAPS_MAX; at += 1) {
    const word = words[at] as ShellWord;
    if (mayBeNone(word)) {
      // Of words that follow one another only one is looked at: without them the command is the same.
      if (mayBeNone(words[at - 1] as ShellWord)) continue;
      const after = surely(words.slice(at + 1));
      if (!after.some(({ text }) => !text.startsWith("-"))) break;
      gaps.push({ before: textOf(surely(words.slice(0, at))), after: textOf(after) });
    } else if (word.text === "--" || (at >= from && isOperand(words, at, from))) break;
  }
  return gaps;
}

/** Behind an option of a subcommand may stand its value. */
function isOperand(words: Words, at: number, from: number): boolean {
  const isOption = (word: ShellWord | undefined): boolean => word?.text.startsWith("-") === true;
  if (isOption(words[at])) return false;
  const option = words[at - 1];
  return from === 1 || !isOption(option) || option?.text.includes("=") === true;
}
