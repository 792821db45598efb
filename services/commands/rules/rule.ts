/** One compiled rule of a tool, which decides whether it applies to a part of a call. */
import type { Programs } from "../programs/program.ts";
import { matchesTable } from "../sql/read-sql.ts";
import { fitsGlob } from "./glob.ts";
import { type CommandPart, guessVisits, type Part, type Visit } from "./part.ts";
import type { Position, Positions } from "./position.ts";
import { compileRun, type RunPattern } from "./run-pattern.ts";

/** A rule of the policy as text. Lists are alternatives. */
export interface RuleText {
  readonly run?: readonly string[];
  /** Where the paths of the command are, or those that it writes. */
  readonly paths?: RulePosition;
  readonly writes?: RulePosition;
  readonly statement?: readonly string[];
  readonly tables?: readonly string[];
  readonly method?: readonly string[];
  readonly host?: readonly string[];
  readonly path?: readonly string[];
}

export const RULE_POSITIONS = ["workspace", "inside", "outside", "root_or_home"] as const;
export type RulePosition = (typeof RULE_POSITIONS)[number];

/**
 * `isStrict`: the rule holds or denies, so it applies to whatever may be meant; any other rule
 * applies only to what certainly is.
 */
export type RuleTest = (part: Part, isStrict: boolean) => boolean;

export interface CompiledRule {
  readonly fits: RuleTest;
  /** The pattern of each `run`. */
  readonly runs: readonly Extract<RunPattern, { ok: true }>[];
}

export function compileRule(
  text: RuleText,
  programs: Programs,
  positions: Positions,
  problem: (key: string, message: string) => void,
): CompiledRule {
  const runs = (text.run ?? []).flatMap((one) => {
    const compiled = compileRun(one, programs);
    if (compiled.ok) return [compiled];
    problem("run", compiled.problem);
    return [];
  });
  const [statements, tables, methods, hosts, paths] = [
    text.statement,
    text.tables,
    text.method,
    text.host,
    text.path,
  ].map(alternatives);
  return {
    runs,
    fits: (part, isStrict) => {
      switch (part.kind) {
        case "command":
          return (
            fitsWords(part, text, runs, isStrict) && fitsPositions(part, text, positions, isStrict)
          );
        case "statement":
          return fitsOne(statements, part.statement) && fitsTables(part.tables, tables, isStrict);
        case "request": {
          const { method, host, path } = part;
          return fitsOne(methods, method) && fitsOne(hosts, host) && fitsOne(paths, path);
        }
      }
    },
  };
}

function fitsWords(
  { form, words, hasTable }: CommandPart,
  { run }: RuleText,
  runs: CompiledRule["runs"],
  isStrict: boolean,
): boolean {
  if (run === undefined) return isStrict || form.problem === null;
  if (form.problem !== null && hasTable)
    return isStrict && runs.some((one) => one.mayFit(form, words));
  return runs.some((one) => {
    // A command that reaches another machine by an option alone is allowed only by a rule that
    // names an option.
    const isMeant = isStrict || !form.sendsToo || one.namesOptions;
    return isMeant && one.fits(form);
  });
}

/**
 * A rule that holds or denies applies where one path matches; a rule that allows, where all paths
 * do.
 */
function fitsPositions(
  part: CommandPart,
  { run, paths, writes }: RuleText,
  positions: Positions,
  isStrict: boolean,
): boolean {
  if (isStrict) {
    if (paths === undefined && writes === undefined) return true;
    const visits = run === undefined ? part.visits : guessVisits(part, positions);
    const hasOne = (position: RulePosition | undefined, all: readonly Visit[]): boolean =>
      position === undefined || all.some((one) => isIn(one.position, position));
    const written = visits.filter(({ access }) => access === "write");
    return hasOne(paths, visits) && hasOne(writes, written);
  }
  const visits = guessVisits(part, positions);
  // A rule without words is about paths, so the command must have some.
  const isAbout = ({ access }: Visit): boolean => access === "write" || writes === undefined;
  if (run === undefined && (part.does === "send" || !visits.some(isAbout))) return false;
  return visits.every(({ position, access, isSecret }) => {
    const asked = (access === "write" ? writes : undefined) ?? paths ?? "inside";
    if (isSecret) return false;
    return asked === "inside"
      ? isFree(position, part)
      : asked === "outside" || isIn(position, asked);
  });
}

/**
 * Whether a command may use a path without approval. A program that others left in a temporary
 * directory may not run.
 */
export function isFree(position: Position, { does }: CommandPart): boolean {
  if (position === "scratch") return does !== "run" && does !== "unknown";
  return position === "workspace" || position === "inside" || position === "readable";
}

function isIn(position: Position, asked: RulePosition): boolean {
  if (asked === "inside")
    return position === "inside" || position === "workspace" || position === "scratch";
  if (asked === "outside") return position === "outside" || position === "root_or_home";
  return position === asked;
}

/** `insert|update`, as globs in lower case. */
function alternatives(texts: readonly string[] | undefined): readonly string[] | undefined {
  return texts?.flatMap((text) => text.split("|")).map((one) => one.trim().toLowerCase());
}

function fitsOne(globs: readonly string[] | undefined, text: string): boolean {
  return globs === undefined || globs.some((glob) => fitsGlob(glob, text.toLowerCase()));
}

function fitsTables(
  tables: readonly string[],
  names: readonly string[] | undefined,
  isStrict: boolean,
): boolean {
  if (names === undefined) return true;
  const matches = (table: string): boolean => names.some((name) => matchesTable(table, name));
  return isStrict ? tables.some(matches) : tables.length > 0 && tables.every(matches);
}
