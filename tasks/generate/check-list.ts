/** `services/core/checks/order.ts`: the checks of `CHECK_ORDER`, each from the file of its name. */
import { CHECK_ORDER } from "../../services/core/reasons/check-reasons.ts";

export function checkListText(): string {
  const lines = CHECK_ORDER.map(
    (name) => `import { ${constantOf(name)} } from "./${name.replaceAll("_", "-")}.ts";`,
  );
  return [
    "/**",
    " * The checks in their order; the first whose reason is enforced decides. Envelope, redelivery, tool",
    " * and arguments come before: they make the call that these judge (`decide/decide-proposal.ts`).",
    " * Written by `npm run schemas` from `CHECK_ORDER` in `reasons/check-reasons.ts`.",
    " */",
    ...[...lines, 'import type { Check } from "./check.ts";'].sort(byPath),
    "",
    "export const CHECKS: readonly Check[] = [",
    ...CHECK_ORDER.map((name) => `  ${constantOf(name)},`),
    "];",
    "",
  ].join("\n");
}

function constantOf(name: string): string {
  return `${name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}Check`;
}

function byPath(a: string, b: string): number {
  const pathOf = (line: string): string => line.slice(line.indexOf('"'));
  return pathOf(a) < pathOf(b) ? -1 : 1;
}
