/** Where output goes and input comes from: `2>&1`, `> file`, `<< END`. */

const OPERATORS = ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">"];
/** A number, or in bash a variable for one. */
const DESCRIPTOR = /(?:\d+|\{[A-Za-z_]\w*\})(?=[<>])/y;

/** What begins at a place, and where it ends; null: no redirection. `<(…)` is a word. */
export function redirectionAt(text: string, at: number): { operator: string; end: number } | null {
  DESCRIPTOR.lastIndex = at;
  const from = at + (DESCRIPTOR.exec(text)?.[0] ?? "").length;
  const operator = OPERATORS.find((one) => text.startsWith(one, from));
  const isProcess = /^[<>]\(/.test(text.slice(from, from + 2));
  return operator === undefined || isProcess ? null : { operator, end: from + operator.length };
}
