/** The policies that play the conversations of a domain. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { importTools } from "../../../services/cli/policy/import/import-tools.ts";
import { CONVERSATIONS_DIRECTORY, type Domain } from "./conversation.ts";

/**
 * `bare`: only says which tools read; `imported`: what `policy import` makes of the definitions;
 * `careful`: what an author writes after one reading of the guide; `expert`: everything that the policy
 * can express about these tools.
 */
export const POLICY_KINDS = ["bare", "imported", "careful", "expert"] as const;

/** The kinds that somebody wrote. */
const WRITTEN_KINDS = ["careful", "expert"] as const satisfies readonly PolicyKind[];

export type PolicyKind = (typeof POLICY_KINDS)[number];

/** Path of a policy that somebody wrote, `<domain>.<kind>.yaml`. */
export function policyPath(domain: string, kind: PolicyKind): string {
  return join(CONVERSATIONS_DIRECTORY, `${domain}.${kind}.yaml`);
}

/** The files that the evaluation needs and that are not there. */
export function missingPolicies(domains: readonly Domain[]): readonly string[] {
  return domains.flatMap(({ name }) =>
    WRITTEN_KINDS.map((kind) => policyPath(name, kind)).filter((path) => !existsSync(path)),
  );
}

export function policyOf(domain: Domain, kind: PolicyKind): object {
  if (kind === "bare") return makePlainPolicy(domain);
  if (kind === "imported") return importPolicy(domain);
  const careful = readPolicy(domain.name, "careful");
  return kind === "careful" ? careful : extendPolicy(careful, readPolicy(domain.name, "expert"));
}

interface PolicyDocument {
  readonly tool_schemas: object;
}

function readPolicy(domain: string, kind: PolicyKind): PolicyDocument {
  return parse(readFileSync(policyPath(domain, kind), "utf8"));
}

/** An expert's file has only what it says otherwise: a tool in it replaces the careful author's. */
function extendPolicy(careful: PolicyDocument, expert: PolicyDocument): PolicyDocument {
  const schemas = { ...careful.tool_schemas, ...expert.tool_schemas };
  return { ...careful, ...expert, tool_schemas: schemas };
}

/** As `callgate policy import --format openai` writes it, which knows neither kinds nor notes. */
function importPolicy({ name, tools }: Domain): object {
  const definitions = tools.map(({ name: tool, description, parameters }) => ({
    ...{ type: "function", name: tool, description, parameters },
  }));
  const imported = importTools([{ name, json: definitions }], "openai");
  if (!imported.ok) throw new Error(`${name}: ${JSON.stringify(imported.problems)}`);
  return parse(imported.yaml);
}

function makePlainPolicy({ tools }: Domain): object {
  const schemas = tools.map(({ name, kind }) => [name, { read_only: kind === "read" }]);
  return { preset: "balanced", tool_schemas: Object.fromEntries(schemas) };
}
