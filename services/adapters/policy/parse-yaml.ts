/** Parses YAML that is no policy, such as an OpenAPI description. */
import { LineCounter, parseDocument } from "yaml";

export type ParsedYaml =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly message: string;
      readonly line: number;
      readonly column: number;
    };

/** Against files that multiply by anchors. */
const ALIASES_MAX = 100;

/** Lines and columns from 1. JSON is YAML too. */
export function parseYamlText(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    return { ok: false, message: error.message, line, column: col };
  }
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: ALIASES_MAX }) };
  } catch (failure) {
    const message = failure instanceof Error ? failure.message : String(failure);
    return { ok: false, message, line: 1, column: 1 };
  }
}
