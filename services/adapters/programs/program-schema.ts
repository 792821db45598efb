/**
 * The schema of a file of programs as people write it. It also parses the short texts in the file.
 */
import { z } from "zod";
import {
  DOES,
  OPTION_EFFECTS,
  type Operand,
  type Option,
  WORD_KINDS,
  type WordKind,
} from "../../commands/programs/program.ts";

const does = z.enum(DOES);
const texts = z.array(z.string());

/** `a|b` and `=a` list the only words that match. */
const wordKind = z.string().transform((text, context): WordKind => {
  if (/^=|\|/.test(text))
    return { kind: "word", choices: new Set(text.replace(/^=/, "").split("|")) };
  const kind = WORD_KINDS.find((one) => one === text);
  if (kind !== undefined) return { kind, choices: null };
  context.addIssue(`there is no kind ${text}: use ${WORD_KINDS.join(", ")}`);
  return z.NEVER;
});

/** Kinds that take all words that follow. */
const LAST: ReadonlySet<string> = new Set(["command", "fed-command", "rest"]);

export const takesRest = ({ kind }: WordKind): boolean => LAST.has(kind);

/** Parses `flag`, or an effect and the kinds of the values: `writes`, `path`, `writes optional`. */
const optionKind = z
  .string()
  .transform((text): { effect: string; optional: boolean; values: readonly string[] } => {
    const [first = "", ...others] = text.split(" ").filter((word) => word !== "flag");
    const isEffect = OPTION_EFFECTS.some((one) => one === first && one !== "none");
    const words = isEffect || first === "" ? others : [first, ...others];
    const optional = words[0] === "optional";
    const values = optional ? words.slice(1) : words;
    const isOpen = optional && values.length === 0;
    return { effect: isEffect ? first : "none", optional, values: isOpen ? ["value"] : values };
  })
  .pipe(
    z.object({ effect: z.enum(OPTION_EFFECTS), optional: z.boolean(), values: z.array(wordKind) }),
  )
  .refine(
    ({ optional, values }) => !optional || values.length === 1,
    "an optional value is one value",
  )
  .refine(
    ({ values }) => values.every((one, at) => !takesRest(one) || (one.kind === "rest" && at > 0)),
    "a command is an operand, and `rest` follows on a value",
  );

const operand = z
  .string()
  .transform((text) => {
    const [, kind = "", end] = /^(.*?)(\.\.\.|\?)?$/s.exec(text) ?? [];
    return { kind, repeat: end === "..." ? "many" : end === "?" ? "maybe" : "once" } as const;
  })
  .pipe(z.object({ kind: wordKind, repeat: z.enum(["once", "maybe", "many"]) }))
  .transform(({ kind, repeat }): Operand => ({ ...kind, repeat }));

const operands = z
  .array(operand)
  .refine(
    (all) => all.filter(({ repeat }) => repeat === "many").length < 2,
    "only one kind of operand may be repeated",
  )
  .refine(
    (all) => !all.slice(0, -1).some(takesRest),
    "`command` and `rest` take all that follows: write them last",
  );

const set = z.strictObject({
  flags: texts.optional(),
  options: z.record(z.string(), optionKind).optional(),
});

const form = set.extend({
  does: does.optional(),
  uses: texts.optional(),
  operands: operands.optional(),
  needs: texts.min(1).optional(),
  lists: z.boolean().optional(),
});

const node = form.extend({
  everywhere: set.optional(),
  forms: z.array(form).min(1).optional(),
  get subcommands() {
    return z.record(z.string(), node).optional();
  },
});

const examples = z.record(z.string(), z.enum([...DOES, "unknown"]));

/** The schema of a program in the built file, which has no examples. */
export const programSchema = node.extend({
  also: texts.optional(),
  sets: z.record(z.string(), set).optional(),
  bundle: z.boolean().default(false),
  loose: z.boolean().default(false),
  globs: z.boolean().default(false),
  hosts: z.boolean().default(false),
  examples: examples.optional(),
});

export const programFile = z.record(z.string(), programSchema.extend({ examples }));

export type ProgramTexts = z.input<typeof programFile>;
export type ProgramText = ProgramTexts[string];
export type SetSpec = z.output<typeof set>;
export type FormSpec = z.output<typeof form>;
export type NodeSpec = z.output<typeof node>;
export type ProgramSpec = z.output<typeof programSchema>;
export type OptionSpec = Omit<Option, "name">;
