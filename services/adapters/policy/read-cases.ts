/**
 * Reads test cases of a policy: calls, and the expected decision of each. A YAML file has a list
 * `cases`; every problem has a line and a column.
 */
import { z } from "zod";
import { FAILURE_EFFECTS, type FailureEffect, type Money } from "../../core/inputs.ts";
import { type PathSegment, policyPath } from "../../core/policy/path.ts";
import { type PolicyProblem, type Positions, problemAt } from "../../core/policy/problem.ts";
import { REASON_CODES, type ReasonCode } from "../../core/reasons/reasons.ts";
import { nearest } from "../config/nearest.ts";
import {
  type CaseReconciliation,
  type CaseVerdict,
  caseDuration,
  caseReconciliations,
  caseVerdict,
  durationMs,
  notOf,
  RECONCILIATION_KEYS,
  readReconciliations,
  readVerdicts,
  VERDICT_KEYS,
} from "./case-answers.ts";
import { describeIssues } from "./describe-issues.ts";
import { type PolicyFile, type ReadPolicy, readYaml } from "./read-yaml.ts";

/** The expected decision of a call; absent keys are not checked. */
export type Expected = {
  readonly outcome: "allowed" | "refused" | "held";
  readonly reason?: ReasonCode;
  /** Reasons in mode `warn` and `shadow`, in any order. */
  readonly warnings?: readonly ReasonCode[];
  readonly shadow?: readonly ReasonCode[];
  readonly level?: number;
  /** Whether a read was answered from memory. */
  readonly answered?: boolean;
};

export type CaseCall = {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Null: the turn of the previous call. */
  readonly turn: string | null;
  /** Consecutive calls with the same step were issued together; null: a step of its own. */
  readonly step: string | null;
  /** Time since the previous call, ms; null: one second, or none within a step. */
  readonly afterMs: number | null;
  readonly agent: string | null;
  readonly says: string | null;
  readonly confirmation: string | null;
  readonly cost: Money | null;
  readonly result: CaseResult;
  /** What people answer where the call is held; none: nobody does. */
  readonly verdicts: readonly CaseVerdict[];
  /** Earlier calls of unknown outcome that are settled before this one. */
  readonly reconciled: readonly CaseReconciliation[];
  readonly expect: Expected;
  /** The expected decision after the verdicts; null: not checked. */
  readonly finally: Expected | null;
  readonly location: CaseLocation;
};

/** The outcome of a call that ran. `none`: not reported yet. */
export type CaseResult =
  | { readonly status: "succeeded"; readonly output: string | null }
  | {
      readonly status: "failed";
      readonly message: string;
      readonly code: string | null;
      /** Null: the report does not say whether the failed call had an effect. */
      readonly effect: FailureEffect | null;
    }
  | { readonly status: "not_executed" | "unknown" | "none" };

export type CaseLocation = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

export type PolicyCase = {
  readonly name: string;
  readonly calls: readonly CaseCall[];
  readonly location: CaseLocation;
};

export type CasesResult =
  | { readonly ok: true; readonly cases: readonly PolicyCase[] }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

const CASES_ROOT = {
  message: "a file of cases is a map",
  remedy: "start with `cases:` and a list",
};
const AMOUNT = /^[0-9]{1,9}(\.[0-9]{1,6})?$/;
const MICRO_UNIT_DIGITS = 6;
const NAME_MAX = 500;
const OUTCOMES = ["allowed", "refused", "held"] as const;

const label = z.union([z.string(), z.number()], {
  error: "must be text or a number\nwrite a name or a number",
});
const reasonCode = z.enum(REASON_CODES, { error: notOf("a reason code", REASON_CODES) });
const expectWords = [...OUTCOMES, ...REASON_CODES] as const;
const expectWord = z.enum(expectWords, { error: notOf("an outcome or a reason", expectWords) });
const expectMap = z.strictObject({
  outcome: z.exactOptional(z.enum(OUTCOMES)),
  reason: z.exactOptional(reasonCode),
  warnings: z.exactOptional(z.array(reasonCode)),
  shadow: z.exactOptional(z.array(reasonCode)),
  level: z.exactOptional(z.int().min(0)),
  answered: z.exactOptional(z.boolean()),
});
const failure = z.strictObject({
  message: z.string(),
  code: z.exactOptional(label),
  effect: z.exactOptional(
    z.enum(FAILURE_EFFECTS, { error: notOf("an effect of a failure", FAILURE_EFFECTS) }),
  ),
});
const callShape = {
  tool: z.string().min(1).max(NAME_MAX),
  args: z.exactOptional(z.record(z.string(), z.unknown())),
  turn: z.exactOptional(label),
  step: z.exactOptional(label),
  after: z.exactOptional(caseDuration),
  agent: z.exactOptional(z.string().min(1)),
  says: z.exactOptional(z.string()),
  confirmation: z.exactOptional(z.string().min(1)),
  cost: z.exactOptional(
    z.strictObject({
      amount: z.string().regex(AMOUNT, { error: 'is not an amount\nwrite it in quotes: "1.50"' }),
      currency: z.string().regex(/^[A-Z]{3}$/, {
        error: "is not a currency\nwrite three capital letters",
      }),
    }),
  ),
  result: z.exactOptional(z.unknown()),
  error: z.exactOptional(z.union([z.string(), failure])),
  status: z.exactOptional(z.enum(["not_executed", "unknown", "none"])),
  verdict: z.exactOptional(caseVerdict),
  reconcile: z.exactOptional(caseReconciliations),
  expect: z.exactOptional(z.union([expectWord, expectMap])),
  finally: z.exactOptional(z.union([expectWord, expectMap])),
};
const caseShape = { name: z.string().min(1), calls: z.array(z.strictObject(callShape)).min(1) };
const document = z.strictObject({ cases: z.array(z.strictObject(caseShape)).min(1) });

type WrittenCall = z.infer<z.ZodObject<typeof callShape>>;
type WrittenExpect = NonNullable<WrittenCall["expect"]>;

const EXPECT_KEYS = Object.keys(expectMap.shape);
/** The keys of a map, by the keys above it without indices. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  "": ["cases"],
  cases: Object.keys(caseShape),
  "cases.calls": Object.keys(callShape),
  "cases.calls.expect": EXPECT_KEYS,
  "cases.calls.finally": EXPECT_KEYS,
  "cases.calls.verdict": VERDICT_KEYS,
  "cases.calls.reconcile": RECONCILIATION_KEYS,
  "cases.calls.error": Object.keys(failure.shape),
  "cases.calls.cost": ["amount", "currency"],
};

export function readCases(file: PolicyFile): CasesResult {
  const read: ReadPolicy = { blocks: [], positions: new Map(), later: new Map(), problems: [] };
  readYaml(file, read, CASES_ROOT);
  if (read.problems.length > 0) return { ok: false, problems: read.problems };
  const raw = Object.fromEntries(read.blocks.map(({ name, value }) => [name, value]));
  const parsed = document.safeParse(raw);
  if (!parsed.success) {
    const schemaProblems = problemsOf(parsed.error.issues, raw, read.positions).map((problem) =>
      // A missing key has no position, so the problem is located at the start of the file.
      problem.line === 0 ? { ...problem, file: file.name, line: 1, column: 1 } : problem,
    );
    return {
      ok: false,
      problems: schemaProblems.sort((a, b) => a.line - b.line || a.column - b.column),
    };
  }
  const problems: PolicyProblem[] = [];
  const cases = parsed.data.cases.map(({ name, calls }, at): PolicyCase => {
    const path = ["cases", at];
    return {
      name,
      location: locate(read.positions, path),
      calls: calls.map((call, index) => {
        const inner = [...path, "calls", index];
        checkCall(call, index, inner, read.positions, problems);
        return callOf(call, locate(read.positions, inner));
      }),
    };
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, cases };
}

function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  raw: Readonly<Record<string, unknown>>,
  positions: Positions,
): readonly PolicyProblem[] {
  return issues.flatMap((issue) => {
    const path = issue.path as readonly PathSegment[];
    const inner = issue.code === "invalid_union" ? alternative(issue, raw, path) : [issue];
    return inner.flatMap((one) => {
      const at = one === issue ? path : [...path, ...(one.path as readonly PathSegment[])];
      if (one.code !== "unrecognized_keys") {
        return describeIssues([{ ...one, path: at as PropertyKey[] }], raw, positions);
      }
      return one.keys.map((key) => problemAt(positions, [...at, key], unknownKey(key, at)));
    });
  });
}

/**
 * Selects the issues of the form that was meant: of a map or a list, the one that takes such a value; else
 * the word's.
 */
function alternative(
  issue: z.core.$ZodIssueInvalidUnion,
  raw: unknown,
  path: readonly PathSegment[],
): readonly z.core.$ZodIssue[] {
  const written = valueAt(raw, path);
  const isText = typeof written !== "object" || written === null;
  const takes = (issues: readonly z.core.$ZodIssue[]): boolean =>
    !issues.some(({ code, path: inner }) => inner.length === 0 && OTHER_KIND.includes(code));
  const meant = isText ? issue.errors[0] : issue.errors.find(takes);
  return meant === undefined || meant.length === 0 ? [issue] : meant;
}

/** How a form says that it takes no such value at all. */
const OTHER_KIND: readonly string[] = ["invalid_type", "invalid_value"];

function valueAt(value: unknown, path: readonly PathSegment[]): unknown {
  return path.reduce<unknown>(
    (node, segment) => (node as Readonly<Record<PathSegment, unknown>> | undefined)?.[segment],
    value,
  );
}

function unknownKey(key: string, path: readonly PathSegment[]) {
  const keys = KEYS[path.filter((segment) => typeof segment === "string").join(".")] ?? [];
  const meant = nearest(key, keys);
  const remedy =
    meant === null ? `the keys here are ${keys.join(", ")}` : `did you mean \`${meant}\`?`;
  return { message: `\`${key}\` is not a key here`, remedy };
}

/** Finds contradictions between well-formed keys. */
function checkCall(
  call: WrittenCall,
  index: number,
  path: readonly PathSegment[],
  positions: Positions,
  problems: PolicyProblem[],
): void {
  const add = (key: string, message: string, remedy: string): void => {
    problems.push(problemAt(positions, [...path, key], { message, remedy }));
  };
  const ends = ["result", "error", "status"].filter((key) => Object.hasOwn(call, key));
  const [, second] = ends;
  if (second !== undefined) {
    add(second, `a call has one outcome, not ${ends.join(" and ")}`, "keep one of them");
  }
  if (call.finally !== undefined && call.verdict === undefined) {
    add("finally", "needs a verdict", "add `verdict: approve` or `verdict: deny`");
  }
  const later = readReconciliations(call.reconcile).find((one) => one.call > index);
  if (later !== undefined) {
    const message = `call ${later.call} does not come before this one, which is call ${index + 1}`;
    add("reconcile", message, "name an earlier call of the case, from 1");
  }
  for (const key of ["expect", "finally"] as const) {
    const expected = call[key];
    if (typeof expected !== "object" || expected.reason === undefined) continue;
    const fitting = outcomeOf(expected.reason);
    if (expected.outcome !== undefined && expected.outcome !== fitting) {
      add(key, `\`${expected.reason}\` comes with \`${fitting}\``, `write outcome: ${fitting}`);
    }
  }
}

function locate(positions: Positions, path: readonly PathSegment[]): CaseLocation {
  const at = positions.get(policyPath(path));
  if (at === undefined) throw new Error(`\`${policyPath(path)}\` was read and has no position`);
  return { file: at.file, line: at.value.line, column: at.value.column };
}

function callOf(call: WrittenCall, location: CaseLocation): CaseCall {
  const { cost } = call;
  return {
    tool: call.tool,
    args: call.args ?? {},
    turn: call.turn === undefined ? null : String(call.turn),
    step: call.step === undefined ? null : String(call.step),
    afterMs: call.after === undefined ? null : durationMs(call.after),
    agent: call.agent ?? null,
    says: call.says ?? null,
    confirmation: call.confirmation ?? null,
    cost: cost === undefined ? null : moneyOf(cost),
    result: resultOf(call),
    verdicts: readVerdicts(call.verdict),
    reconciled: readReconciliations(call.reconcile),
    expect: expectedOf(call.expect ?? "allowed"),
    finally: call.finally === undefined ? null : expectedOf(call.finally),
    location,
  };
}

function moneyOf({ amount, currency }: NonNullable<WrittenCall["cost"]>): Money {
  const [whole = "0", fraction = ""] = amount.split(".");
  return { microUnits: Number(whole + fraction.padEnd(MICRO_UNIT_DIGITS, "0")), currency };
}

function resultOf({ result, error, status }: WrittenCall): CaseResult {
  if (status !== undefined) return { status };
  if (typeof error === "string") {
    return { status: "failed", message: error, code: null, effect: null };
  }
  if (error !== undefined) {
    const code = error.code === undefined ? null : String(error.code);
    return { status: "failed", message: error.message, code, effect: error.effect ?? null };
  }
  const output =
    result === undefined || typeof result === "string" ? result : JSON.stringify(result);
  return { status: "succeeded", output: output ?? null };
}

function expectedOf(written: WrittenExpect): Expected {
  if (typeof written === "object") {
    const { reason } = written;
    const outcome = written.outcome ?? (reason === undefined ? "allowed" : outcomeOf(reason));
    return { ...written, outcome };
  }
  const word = OUTCOMES.find((outcome) => outcome === written);
  if (word !== undefined) return { outcome: word };
  const reason = written as ReasonCode;
  return { outcome: outcomeOf(reason), reason };
}

function outcomeOf(reason: ReasonCode): Expected["outcome"] {
  return reason === "approval_required" ? "held" : "refused";
}
