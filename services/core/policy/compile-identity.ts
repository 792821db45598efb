/** What makes two calls the same: the identity of a tool's arguments. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { CompiledJsonSchema, SchemaProblem, ValueCapabilities } from "../capabilities.ts";
import { type CompiledNormalizers, compileNormalizers } from "../normalize/compile-normalizers.ts";
import {
  getArgument,
  isObject,
  removeArgument,
  setArgument,
  withoutArgument,
} from "./argument-path.ts";
import type { Identity, SealArguments } from "./compiled.ts";
import type { ToolDocument } from "./document.ts";
import { type PathSegment, policyPath } from "./path.ts";

export interface CompileProblem {
  readonly path: string;
  readonly message: string;
}

type Step = readonly [field: string, run: CompiledNormalizers["run"]];

export function compileIdentity(
  tool: ToolDocument,
  at: readonly PathSegment[],
  byteHash: boolean,
  schema: CompiledJsonSchema | null,
  capabilities: ValueCapabilities,
  problems: CompileProblem[],
): Identity {
  const steps = byteHash ? [] : compileSteps(tool, at, capabilities, problems);
  const fields = byteHash ? undefined : tool.canonical_fields;
  const drop = tool.idempotency_argument;
  const defaults = schema?.defaults ?? null;
  return (args, text, sealed) => {
    const filled = defaults === null ? args : (defaults(args) as JsonObject);
    const bare = drop === undefined ? filled : withoutArgument(filled, drop);
    const done =
      steps.length === 0 ? { ok: true as const, value: bare } : normalize(bare, steps, sealed);
    if (!done.ok) return done;
    const normalized = sealedIf(sealed, done.value);
    const named = fields === undefined ? null : pick(normalized, fields);
    if (named !== null) {
      return {
        ok: true,
        text: canonicalText(Object.fromEntries(named)),
        normalized,
        fields: named.map(([, value]) => value),
      };
    }
    const same = normalized === args;
    return { ok: true, text: same ? text : canonicalText(normalized), normalized, fields: null };
  };
}

function sealedIf(sealed: SealArguments | undefined, value: JsonObject): JsonObject {
  return sealed === undefined ? value : sealed.seal(value);
}

function compileSteps(
  tool: ToolDocument,
  at: readonly PathSegment[],
  capabilities: ValueCapabilities,
  problems: CompileProblem[],
): Step[] {
  const steps: Step[] = [];
  for (const [field, chain] of Object.entries(tool.normalizers ?? {})) {
    const compiled = compileNormalizers(chain, {
      capabilities,
      schemaDefault: defaultOf(tool.input_schema, field),
    });
    if (compiled.ok) steps.push([field, compiled.run]);
    else {
      problems.push({
        path: policyPath([...at, "normalizers", field]),
        message: compiled.problem,
      });
    }
  }
  return steps;
}

function normalize(
  args: JsonObject,
  steps: readonly Step[],
  sealed: SealArguments | undefined,
):
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] } {
  const problems: SchemaProblem[] = [];
  let value = args;
  for (const [field, run] of steps) {
    const before = getArgument(value, field);
    if (before === undefined || sealed?.isDone(before) === true) continue;
    const after = run(before, args);
    if (!after.ok) problems.push({ path: `$.${field}`, message: after.message });
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

/** The named fields that are there; null where none is: then all arguments count. */
function pick(args: JsonObject, fields: readonly string[]): [string, JsonValue][] | null {
  const named: [string, JsonValue][] = [];
  for (const field of fields) {
    const value = getArgument(args, field);
    if (value !== undefined) named.push([field, value]);
  }
  return named.length === 0 ? null : named;
}
