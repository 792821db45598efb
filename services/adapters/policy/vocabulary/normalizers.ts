import {
  NORMALIZER_NAMES,
  normalizerArgumentsMax,
} from "../../../core/normalize/compile-normalizers.ts";
import { isCustomName } from "../../../core/normalize/custom.ts";
import { nearest } from "../../config/nearest.ts";

const CALL = /^([A-Za-z_][A-Za-z0-9_]*)(?:\(([^()]*)\))?$/;

/** Returns why the text is no normalizer, with the remedy after a line feed; null: it is one. */
export function normalizerProblem(written: string): string | null {
  if (!CALL.test(written)) {
    return `\`${written}\` is not a normalizer\nwrite a name, or a name with arguments in quotes: "e164(US, valid)"`;
  }
  const { name, arguments: argumentTexts } = parseNormalizer(written);
  // Compiling the policy checks that the program provides a custom normalizer.
  if (isCustomName(name)) return null;
  if (!NORMALIZER_NAMES.includes(name)) {
    const meant = nearest(name, NORMALIZER_NAMES);
    const names = NORMALIZER_NAMES.join(", ");
    const remedy = meant === null ? `use one of ${names}` : `did you mean \`${meant}\`?`;
    return `\`${name}\` is not a normalizer\n${remedy}`;
  }
  const most = normalizerArgumentsMax(name);
  if (argumentTexts.length <= most) return null;
  return `\`${name}\` takes ${most === 0 ? "no" : `at most ${most}`} arguments\nwrite \`${name}\``;
}

/** Parses `e164(US, valid)`. The text must have passed `normalizerProblem`. */
export function parseNormalizer(written: string): { name: string; arguments: string[] } {
  const [, name = written, list] = CALL.exec(written) ?? [];
  const argumentTexts = (list ?? "").split(",").map((argument) => argument.trim());
  return { name, arguments: argumentTexts.filter((argument) => argument !== "") };
}
