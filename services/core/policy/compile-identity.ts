/** The identity of a tool's arguments, which makes two calls the same. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { CompiledJsonSchema, SchemaProblem, ValueCapabilities } from "../capabilities.ts";
import { type CompiledNormalizers, compileNormalizers } from "../normalize/compile-normalizers.ts";
import { mayBeRespelled } from "../normalize/spelling.ts";
import { getArgument, isObject, removeArgument, setArgument } from "./argument-path.ts";
import { compileMembers, findFieldProblem, printMembers, valuesOf } from "./canonical-members.ts";
import { compileArgumentSpelling, ignoresSpelling } from "./compile-spelling.ts";
import type { Identity, IdentityResult, SealArguments } from "./compiled.ts";
import type { ToolDocument } from "./document.ts";
import { leaveOutFreshKeys, mayHaveFreshKey } from "./fresh-keys.ts";
import { inWayOfKey, withoutKey } from "./key-argument.ts";
import { findBracketProblem, isListPath, mapElements, readListPath } from "./list-path.ts";
import { type PathSegment, policyPath } from "./path.ts";

export interface CompileProblem {
  readonly path: string;
  readonly message: string;
}

/** A transformation of the argument at a path before calls are compared. */
export interface IdentityStep {
  readonly field: string;
  readonly run: CompiledNormalizers["run"];
}

export interface IdentityContext {
  readonly byteHash: boolean;
  readonly schema: CompiledJsonSchema | null;
  readonly capabilities: ValueCapabilities;
  /** The last step on an argument, after its normalizers. */
  readonly last: IdentityStep | null;
  readonly isWrite: boolean;
  readonly readsCommands: boolean;
  /** Whether the policy lets spellings of one value count as one. */
  readonly unifiesSpelling: boolean;
}

export function compileIdentity(
  tool: ToolDocument,
  at: readonly PathSegment[],
  context: IdentityContext,
  problems: CompileProblem[],
): Identity {
  const { byteHash, schema, capabilities, last, isWrite } = context;
  const written = byteHash ? [] : compileSteps(tool, at, capabilities, problems);
  const steps = byteHash || last === null ? written : [...written, last];
  const fields = byteHash ? [] : (tool.canonical_fields ?? []);
  checkFields(fields, at, problems);
  const members = fields.length === 0 ? null : compileMembers(fields);
  const drop = tool.idempotency_argument;
  const defaults = schema?.defaults ?? null;
  const isWhole = steps.length === 0 && members === null && defaults === null && drop === undefined;
  const ofAll = byteHash || !isWrite ? allArguments : withoutFreshKeys(tool, String(at[1]));
  const unify = context.unifiesSpelling ? compileArgumentSpelling(tool, capabilities) : null;
  const isText = context.readsCommands || !isWrite;
  const respells = unify !== null && !isText && ignoresSpelling(tool);
  const prepare = (args: JsonObject, sealed: SealArguments | undefined): Prepared => {
    const filled = defaults === null ? args : (defaults(args) as JsonObject);
    const prepared = removeKey(filled, drop);
    return prepared.ok && steps.length > 0 ? normalize(prepared.value, steps, sealed) : prepared;
  };
  const ofMembers = (compared: JsonObject, normalized: JsonObject): IdentityResult | null => {
    const text = members === null ? "" : printMembers(compared, members);
    if (text === "") return null;
    return { ok: true, text: `{${text}}`, normalized, fields: valuesOf(normalized, fields) };
  };
  const identify: Identity = (args, text, sealed) => {
    const isRespelled = unify !== null && mayBeRespelled(text);
    if (isWhole && !isRespelled) return ofAll(args, text, sealed);
    const prepared = prepare(args, sealed);
    if (!prepared.ok) return prepared;
    const unified = isRespelled ? unify(prepared.value) : prepared.value;
    const normalized = sealedIf(sealed, unified);
    const isOneForm = respells || unified === prepared.value;
    const compared = isOneForm ? normalized : sealedIf(sealed, prepared.value);
    return (
      ofMembers(compared, normalized) ?? {
        ...ofAll(compared, textOf(compared, args, text)),
        normalized,
      }
    );
  };
  return Object.assign(identify, { isWhole, unify: respells ? unify : null });
}

/** Where the arguments did not change, their text did not. */
function textOf(compared: JsonObject, args: JsonObject, text: string): string {
  return compared === args ? text : canonicalText(compared);
}

function checkFields(
  fields: readonly string[],
  at: readonly PathSegment[],
  problems: CompileProblem[],
): void {
  fields.forEach((field, index) => {
    const message = findFieldProblem(field);
    if (message !== null)
      problems.push({ path: policyPath([...at, "canonical_fields", index]), message });
  });
}

/** The identity of all arguments, unchanged. */
export const allArguments: Identity = Object.assign(identifyByAll, { isWhole: true, unify: null });

function identifyByAll(args: JsonObject, text: string, sealed?: SealArguments) {
  const normalized = sealedIf(sealed, args);
  const same = normalized === args;
  const own = same ? text : canonicalText(normalized);
  return { ok: true, text: own, normalized, fields: null } as const;
}

/** The identity of all arguments but those that a caller makes up anew for each try. */
function withoutFreshKeys(tool: ToolDocument, name: string) {
  return (args: JsonObject, text: string, sealed?: SealArguments) => {
    const identity = identifyByAll(args, text, sealed);
    if (!mayHaveFreshKey(text)) return identity;
    const rest = leaveOutFreshKeys(identity.normalized, name, tool.normalizers ?? {});
    return rest === null ? identity : { ...identity, text: canonicalText(rest) };
  };
}

type Prepared =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/**
 * Where the arguments have no room for the key the call is refused: a tool without the key would
 * repeat the effect of a retry.
 */
function removeKey(args: JsonObject, key: string | undefined): Prepared {
  if (key === undefined) return { ok: true, value: args };
  const path = inWayOfKey(args, key);
  if (path === null) return { ok: true, value: withoutKey(args, key) };
  const message = "must be an object, or be left out";
  return { ok: false, problems: [{ path: `$.${path}`, message }] };
}

function sealedIf(sealed: SealArguments | undefined, value: JsonObject): JsonObject {
  return sealed === undefined ? value : sealed.seal(value);
}

function compileSteps(
  tool: ToolDocument,
  at: readonly PathSegment[],
  capabilities: ValueCapabilities,
  problems: CompileProblem[],
): IdentityStep[] {
  const steps: IdentityStep[] = [];
  for (const [field, chain] of Object.entries(tool.normalizers ?? {})) {
    const bracketProblem = findBracketProblem(field);
    if (bracketProblem !== null) {
      problems.push({ path: policyPath([...at, "normalizers", field]), message: bracketProblem });
    }
    const compiled = compileNormalizers(chain, {
      capabilities,
      schemaDefault: defaultOf(tool.input_schema, field),
    });
    if (compiled.ok) steps.push({ field, run: compiled.run });
    else {
      problems.push({
        path: policyPath([...at, "normalizers", field]),
        message: compiled.problem,
      });
    }
  }
  return steps;
}

const NO_PROBLEMS: readonly SchemaProblem[] = [];

function normalize(
  args: JsonObject,
  steps: readonly IdentityStep[],
  sealed: SealArguments | undefined,
): Prepared {
  let problems = NO_PROBLEMS;
  let value = args;
  for (const { field, run } of steps) {
    if (isListPath(field)) {
      const path = readListPath(field);
      const mapped = mapElements(value, path, (before) => {
        const after = run(before, args);
        if (after.ok) return "omit" in after ? undefined : after.value;
        problems = [...problems, { path: `$.${field}`, message: after.message }];
        return before;
      });
      value = mapped as JsonObject;
      continue;
    }
    const before = getArgument(value, field);
    if (before === undefined || sealed?.isDone(before) === true) continue;
    const after = run(before, args);
    if (!after.ok) problems = [...problems, { path: `$.${field}`, message: after.message }];
    else if ("omit" in after) value = removeArgument(value, field);
    else if (after.value !== before) value = setArgument(value, field, after.value);
  }
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
}

/** The default that a schema gives the argument at a path. */
function defaultOf(schema: ToolDocument["input_schema"], field: string): JsonValue | undefined {
  let at: JsonValue | undefined = schema;
  for (const key of field.split(".")) {
    const properties: JsonValue | undefined = isObject(at) ? at["properties"] : undefined;
    at = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  }
  return isObject(at) ? at["default"] : undefined;
}
