import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadPrograms } from "../../../services/adapters/programs/load-programs.ts";
import type {
  Form,
  Option,
  OptionTable,
  Program,
  ProgramNode,
  WordKind,
} from "../../../services/commands/programs/program.ts";
import { readCommand } from "../../../services/commands/programs/read-command.ts";
import { commandOf, formOf, programNames } from "../../support/commands/forms.ts";

const PROGRAMS = loadPrograms();
const NAMES = programNames();

/** One form of one program, the words that lead to it, and the options that it accepts. */
interface ProgramForm {
  readonly program: Program;
  readonly path: readonly string[];
  readonly form: Form;
  readonly tables: readonly OptionTable[];
}

function listProgramForms(
  program: Program,
  { forms, subcommands }: ProgramNode,
  path: readonly string[],
): readonly ProgramForm[] {
  const here = forms.map((form) => ({ program, path, form, tables: form.tables }));
  const below = [...subcommands].flatMap(([name, child]) =>
    listProgramForms(program, child.node, [...path, name]),
  );
  return [...here, ...below];
}

const PROGRAM_FORMS = NAMES.flatMap((name) => {
  const program = PROGRAMS.get(name);
  return program === undefined ? [] : listProgramForms(program, program, [name]);
});
/** An index, since a failure would print a whole table. */
const formIndex = fc.nat(PROGRAM_FORMS.length - 1);
const getProgramForm = (index: number): ProgramForm => PROGRAM_FORMS[index] as ProgramForm;
const isRead = (words: readonly string[]) => ["read", "watch"].includes(formOf(...words).does);

/** The options of the form itself. */
const optionsOf = ({ form }: Pick<ProgramForm, "form">): OptionTable => form.tables[0] ?? new Map();

/** A word of that kind, or null where this test makes none. */
function sampleOf({ kind, choices }: WordKind): string | null {
  if (choices !== null) return [...choices][0] ?? null;
  if (kind === "number") return "7";
  if (kind === "sed-print") return "5p";
  return kind === "rest" ? null : "some-file";
}

/** Whether no form of the program has the option, nor a letter that it may begin with. */
const isUnknownTo = (option: string, { program }: ProgramForm): boolean =>
  !program.loose &&
  PROGRAM_FORMS.filter((other) => other.program === program).every(({ tables }) =>
    tables.every((table) => !table.has(option) && !table.has(option.slice(0, 2))),
  );

describe("readCommand", () => {
  it("never takes an unknown program for a read", () => {
    const name = fc.stringMatching(/^[a-z./~-]{1,12}$/).filter((text) => {
      return !PROGRAMS.has(text.replace(/^\/(usr\/)?bin\//, ""));
    });
    fc.assert(
      fc.property(name, fc.array(fc.string()), (program, words) => {
        expect(formOf(program, ...words)).toMatchObject({ does: "unknown", inner: null });
        expect(formOf(program, ...words).problem).not.toBeNull();
      }),
    );
  });

  it("does not take a program of another directory for the known one", () => {
    const directory = fc.constantFrom(
      "./",
      "bin/",
      "/tmp/",
      "~/bin/",
      "/usr/bin/../../tmp/",
      "../",
    );
    fc.assert(
      fc.property(directory, fc.constantFrom("ls", "git", "cat"), (prefix, name) => {
        expect(formOf(`${prefix}${name}`).does).toBe("unknown");
      }),
    );
    expect(formOf("/usr/bin/git", "status").does).toBe("read");
  });

  it("never takes a form for a read that has an option outside its table", () => {
    const option = fc.stringMatching(/^--?[a-zA-Z][a-z-]{1,10}(=[a-z/.]{0,5})?$/);
    fc.assert(
      fc.property(
        formIndex,
        option,
        fc.array(fc.string(), { maxLength: 3 }),
        (index, unknown, rest) => {
          const at = getProgramForm(index);
          fc.pre(isUnknownTo(unknown.split("=")[0] ?? "", at));
          fc.pre(!at.program.bundle && !["--help", "--version"].includes(unknown));
          expect(isRead([...at.path, unknown, ...rest])).toBe(false);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("never takes a form for a read in which an option writes, sends, runs or loads", () => {
    const harmful = PROGRAM_FORMS.flatMap((at) =>
      [...optionsOf(at)]
        .filter(([, { effect, values }]) => {
          const writes = values.some(({ kind }) => kind === "out");
          return writes || !["none", "watches"].includes(effect);
        })
        .map(([spelling, option]) => ({ at, spelling, option })),
    );
    expect(harmful.length).toBeGreaterThan(50);
    for (const { at, spelling, option } of harmful) {
      const values = option.values.map((kind) => sampleOf(kind) ?? "x");
      for (const words of spellingsOf(spelling, option, values)) {
        expect([words, isRead([...at.path, ...words, "5p", "b"])]).toEqual([words, false]);
        expect([words, isRead([...at.path, ...words])]).toEqual([words, false]);
      }
    }
  });

  it("returns one form for every spelling of an option", () => {
    let seen = 0;
    for (const { path, form } of PROGRAM_FORMS) {
      const options = optionsOf({ form });
      for (const option of new Set(options.values())) {
        const value = option.values[0] === undefined ? "" : sampleOf(option.values[0]);
        if (option.values.length > 1 || value === null || option.name === "--version") continue;
        const spellings = [...options]
          .filter(([spelling, candidate]) => candidate === option && spelling !== "-#")
          .flatMap(([spelling]) => spellingsOf(spelling, option, [value]));
        const read = spellings.map((words) => {
          const read = formOf(...path, ...words);
          return { options: read.options, does: read.does, paths: read.paths };
        });
        expect([path, read]).toEqual([path, read.map(() => read[0])]);
        seen += spellings.length;
      }
    }
    expect(seen).toBeGreaterThan(3_000);
  });

  it("is total, and says why a form is unknown", () => {
    const words = PROGRAM_FORMS.flatMap(({ path, form }) => [
      ...path,
      ...optionsOf({ form }).keys(),
    ]);
    const word = fc.oneof(fc.constantFrom(...new Set(words)), fc.string(), fc.constant("--"));
    const command = fc.tuple(fc.constantFrom(...NAMES), fc.array(word), fc.array(fc.nat(5)));
    fc.assert(
      fc.property(command, ([program, rest, globs]) => {
        const form = readCommand(PROGRAMS, commandOf([program, ...rest], globs));
        expect(form.problem === null).toBe(form.does !== "unknown");
        expect(form.path[0]).toBe(form.program);
      }),
      { numRuns: 2_000 },
    );
  });

  it("accepts a pattern that may match an option name only where no option harms", () => {
    const options = fc.constantFrom("*", "*.txt", "?x", "[a-]x");
    fc.assert(
      fc.property(formIndex, options, (index, pattern) => {
        const { path, program } = getProgramForm(index);
        fc.pre(!program.globs);
        const command = commandOf([...path, pattern], [path.length]);
        const { does, inner } = readCommand(PROGRAMS, command);
        expect([path, inner !== null || !["read", "watch"].includes(does)]).toEqual([path, true]);
      }),
    );
  });

  it.each([
    ["sed", "s/a/b/;".repeat(9_000)],
    ["sed", `${"1,2p;".repeat(13_000)}w`],
    ["sed", `s/${"\\/".repeat(30_000)}`],
    ["awk", `${"{}".repeat(30_000)}|`],
    ["awk", `${"/x/ ".repeat(15_000)}{`],
    ["awk", '"'.repeat(60_001)],
    ["tar", "z".repeat(60_000)],
    ["ls", `-${"l".repeat(60_000)}`],
  ])("ends for a long word of %s", (program, word) => {
    expect(formOf(program, word, "a").program).toBe(program);
  });

  it("ends for a command of many words", () => {
    const many = Array.from({ length: 30_000 }, () => "-n");
    expect(formOf("sort", ...many).options).toHaveLength(30_000);
    expect(formOf("env", ...many.map(() => "A=1"), "ls").problem).toContain("A may not be set");
  });
});

/** `-n 5`, `-n5`, `--lines 5`, `--lines=5`. */
function spellingsOf(
  spelling: string,
  { values, optional }: Option,
  [value = "", ...others]: readonly string[],
): readonly (readonly string[])[] {
  if (values.length === 0) return [[spelling]];
  if (spelling.endsWith("=")) return [[`${spelling}${value}`]];
  const isLetter = /^-\w$/.test(spelling);
  const attached = isLetter ? `${spelling}${value}` : `${spelling}=${value}`;
  const apart = [spelling, value, ...others];
  if (others.length > 0) return [apart];
  return optional ? [[attached]] : [apart, [attached]];
}
