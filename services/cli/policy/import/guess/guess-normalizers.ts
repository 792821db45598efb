/** Guesses the forms in which arguments are compared. None of them refuses a value of its type. */
import type { NormalizerCall } from "../../../../core/policy/document.ts";
import type { WriteGuess } from "./guess-class.ts";
import { membersOf, type Parameter } from "./parameters.ts";

export type Normalizers = Readonly<Record<string, readonly NormalizerCall[]>>;

export function guessNormalizers(write: WriteGuess, parameters: readonly Parameter[]): Normalizers {
  const members = parameters.flatMap(membersOf).filter(({ role }) => role === "path");
  const chains = [...parameters, ...members]
    .filter(({ type }) => type === "string")
    .map((parameter): [string, readonly string[]] => [parameter.name, chainOf(write, parameter)]);
  return Object.fromEntries(
    chains
      .filter(([, chain]) => chain.length > 0)
      .map(([name, chain]) => [name, chain.map((one) => ({ name: one, arguments: [] }))]),
  );
}

function chainOf({ kind }: WriteGuess, parameter: Parameter): readonly string[] {
  const { role, isList, schema } = parameter;
  if (schema["enum"] !== undefined) return [];
  if (isList) return role === "recipient" ? ["unique", "sort"] : [];
  switch (role) {
    case "currency":
      return ["trim", "to_upper"];
    case "amount":
      return isDecimal(parameter) ? ["decimal"] : [];
    case "path":
      return ["path"];
    case "recipient":
      return parameter.format === "email" || kind === "send" ? ["trim", "to_lower"] : [];
    case "title":
      return kind === "create" || kind === "send" ? ["trim", "collapse_space", "to_lower"] : [];
    default:
      return [];
  }
}

/** A text that the schema says is a plain decimal number; others may have signs and separators. */
function isDecimal({ format, schema }: Parameter): boolean {
  if (format === "decimal") return true;
  const said = [schema["description"], schema["pattern"], JSON.stringify(schema["examples"] ?? "")];
  return said.some((text) => typeof text === "string" && /\d\.\d\d|\\d|decimal/.test(text));
}
