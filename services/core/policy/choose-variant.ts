/** Which variants a call has: what its parts ask for. */
import type { JsonObject } from "../canonical/json-value.ts";
import { readGitLine } from "../variants/classify-git-line.ts";
import { classifyHttp, methodsOf } from "../variants/classify-http.ts";
import { classifySql, readSql } from "../variants/classify-sql.ts";
import { partsOfShell, type ShellPart } from "../variants/shell/classify-shell.ts";
import type { OptionGap } from "../variants/shell/given-texts.ts";
import { spellSql } from "../variants/spell-sql.ts";
import type { VariantClass } from "../variants/variant-class.ts";
import type { VariantsDocument } from "./document.ts";
import type { Ranked } from "./merge-variants.ts";

export type ByClass = Readonly<Record<VariantClass, Ranked>>;

/** Chooses among the variants; `class`: what the set says of the text, where there is a set. */
export interface Choices {
  readonly byClass: ByClass;
  readonly rules: readonly {
    readonly matches: (text: string) => boolean;
    /** More than `matches`: texts that some server may take for those. It makes a call stricter and never laxer. */
    readonly mayMatch: (text: string) => boolean;
    /** Options that the rule asks about. */
    readonly options: readonly string[];
    /** Whether some command of a program can fit; true also where it cannot be told. */
    readonly canFit: (program: string) => boolean;
    readonly byClass: ByClass;
  }[];
  readonly otherwise: Ranked;
}

/** All that the parts of a call ask for. */
type Choose = (text: string, args: JsonObject) => readonly Ranked[];

export function chooser({ set, session }: VariantsDocument, choices: Choices): Choose {
  const { byClass, rules } = choices;
  const ruleFor = (text: string): ByClass | undefined =>
    rules.find(({ matches }) => matches(text))?.byClass;
  const ofText = (text: string, one: VariantClass): Ranked => (ruleFor(text) ?? byClass)[one];
  if (set === undefined) return (text) => ofName(text, choices);
  switch (set) {
    case "posix_shell":
      return (line) => {
        const parts = partsOfShell(line, { session: session ?? true });
        if (parts === null) return unreadable(choices);
        // An empty line waits for what still comes.
        if (parts.length === 0) return [byClass.watch];
        return parts.flatMap((part) => ofPart(part, choices, ruleFor));
      };
    case "git":
      return (line) => {
        const read = readGitLine(line);
        if (read === null) return unreadable(choices);
        // As it is written, and as git reads it: as strict as both.
        const ruled = read.texts.flatMap((text) => ruleFor(text)?.[read.class] ?? []);
        const spelled = ruled.length > 0 ? ruled : [byClass[read.class]];
        return [ofText(line, read.class), ...spelled];
      };
    case "sql":
      return (text) => ofSql(text, choices, ruleFor);
    case "http":
      return (method, args) => {
        const { methods, unknown } = methodsOf(method, args);
        const parts = [...new Set(methods)].flatMap((one) => {
          const found = classifyHttp(one);
          const plain = one.trim().toUpperCase();
          const spellings = plain === one ? [one] : [one, plain];
          const loose = firstThatMay(rules, plain)?.byClass[found] ?? [];
          return spellings.map((text) => ofText(text, found)).concat(loose);
        });
        return unknown ? [...parts, ...unreadable(choices)] : parts;
      };
  }
}

/** The first rule that is about it; and before it each that may be. */
function ofName(text: string, { rules, otherwise }: Choices): readonly Ranked[] {
  const found: Ranked[] = [];
  for (const { matches, mayMatch, byClass } of rules) {
    if (mayMatch(text)) found.push(byClass[NO_SET_CLASS]);
    if (matches(text)) return found;
  }
  return [...found, otherwise];
}

/** Statements whose rules are looked up; a text of more counts as one that cannot be read. */
const STATEMENTS_MAX = 1_024;

/** Of several statements each by itself, and every rule that is about the whole text. */
function ofSql(
  text: string,
  choices: Choices,
  ruleFor: (text: string) => ByClass | undefined,
): readonly Ranked[] {
  const { byClass, rules } = choices;
  const { class: found, statements } = readSql(text);
  if (statements === null || statements.length > STATEMENTS_MAX) return unreadable(choices);
  const of = (one: string, its: VariantClass): Ranked => (ruleFor(one) ?? byClass)[its];
  if (statements.length > 1) {
    const ruled = rules.filter((rule) => rule.matches(text) || rule.mayMatch(text));
    const alone = statements.flatMap((one) => {
      const its = classifySql(one);
      return spelled([of(one, its)], [one], its, choices);
    });
    return [...alone, ...ruled.map((rule) => rule.byClass[found])];
  }
  // As it is written, and without what is around it.
  const bare = statements.flatMap((one) => ruleFor(one)?.[found] ?? []);
  return spelled([of(text, found), ...bare], [text, ...statements], found, choices);
}

/**
 * `own`, and what rules say of the statements in other words: without comments, in any case. What begins inside of one
 * makes it no laxer: a permission for a part is none for the whole.
 */
function spelled(
  own: readonly Ranked[],
  statements: readonly string[],
  found: VariantClass,
  choices: Choices,
): readonly Ranked[] {
  const { rules } = choices;
  if (rules.length === 0) return own;
  const spellings = statements.map(spellSql);
  const ruled = (texts: Iterable<string>): readonly Ranked[] =>
    [...texts].flatMap((one) => firstThatMay(rules, one)?.byClass[found] ?? []);
  const texts = new Set([...statements, ...spellings.flatMap((one) => one.texts)]);
  const whole = [...own, ...ruled(texts)];
  const rank = Math.max(...whole.map((one) => one.rank));
  const parts = ruled(new Set(spellings.flatMap((one) => one.parts)));
  const hidden = spellings.some((one) => one.hidden) ? unreadable(choices) : [];
  return [...whole, ...parts.filter((one) => one.rank >= rank), ...hidden];
}

function firstThatMay(rules: Choices["rules"], text: string) {
  return rules.find(({ mayMatch }) => mayMatch(text));
}

/** A command; those that it runs, where a rule is about them; and what its words do not show. */
function ofPart(
  { texts: [own = "", ...inner], gaps, class: found, hidden, unseenOf, beside }: ShellPart,
  choices: Choices,
  ruleFor: (text: string) => ByClass | undefined,
): readonly Ranked[] {
  const ruled = ruleFor(own);
  const parts = [(ruled ?? choices.byClass)[found]];
  for (const text of inner) {
    const one = ruleFor(text)?.[found];
    if (one !== undefined) parts.push(one);
  }
  for (const text of gaps.flatMap((gap) => filled(gap, choices))) {
    const one = ruleFor(text)?.[found];
    if (one !== undefined) parts.push(one);
  }
  if (hidden) parts.push(...unreadable(choices, found));
  for (const rule of unseenOf.length > 0 ? choices.rules : []) {
    if (unseenOf.some(rule.canFit)) parts.push(rule.byClass[found]);
  }
  // A rule sees words: that they read says nothing of the file that the output goes to.
  if (ruled !== undefined && beside !== "read") parts.push(choices.byClass[beside]);
  return parts;
}

/** The command with each option in place of a word that is not seen, where a rule that asks about the option fits it. */
function filled({ before, after }: OptionGap, { rules }: Choices): readonly string[] {
  return rules.flatMap(({ options, matches }) =>
    options.map((option) => `${before} ${option} ${after}`.trimEnd()).filter(matches),
  );
}

/** What cannot be read may hold what any of the rules is about. */
export function unreadable(
  { byClass, rules }: Choices,
  found: VariantClass = "write",
): readonly Ranked[] {
  return [byClass[found], ...rules.map((rule) => rule.byClass[found])];
}

/** Without a set a rule's own keys say what it is; where they do not, it writes. */
const NO_SET_CLASS: VariantClass = "write";
