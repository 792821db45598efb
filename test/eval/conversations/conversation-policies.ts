/** The policies that play the conversations of a domain. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { CONVERSATIONS_DIRECTORY, type Domain } from "./conversation.ts";

/**
 * `bare`: only says which tools read; `careful`: what an author writes after one reading of the guide;
 * `expert`: everything that the policy can express about these tools.
 */
export const POLICY_KINDS = ["bare", "careful", "expert"] as const;

export type PolicyKind = (typeof POLICY_KINDS)[number];

/** Path of a policy that somebody wrote, `<domain>.<kind>.yaml`. */
export function policyPath(domain: string, kind: PolicyKind): string {
  return join(CONVERSATIONS_DIRECTORY, `${domain}.${kind}.yaml`);
}

/** The files that the evaluation needs and that are not there. */
export function missingPolicies(domains: readonly Domain[]): readonly string[] {
  return domains.flatMap(({ name }) =>
    POLICY_KINDS.filter((kind) => kind !== "bare")
      .map((kind) => policyPath(name, kind))
      .filter((path) => !existsSync(path)),
  );
}

export function policyOf(domain: Domain, kind: PolicyKind): object {
  if (kind === "bare") return makePlainPolicy(domain);
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

function makePlainPolicy({ tools }: Domain): object {
  const schemas = tools.map(({ name, kind }) => [name, { read_only: kind === "read" }]);
  return { preset: "balanced", tool_schemas: Object.fromEntries(schemas) };
}
