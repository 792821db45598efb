/** Rules about shell lines that no line can fit: a rule sees the words of one command. */
import type { PolicyDocument, VariantRule } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import type { LintRule, Report } from "./finding.ts";

export const lintShellRules: LintRule = (document: PolicyDocument, report) => {
  for (const [name, { variants }] of Object.entries(document.tool_schemas ?? {})) {
    if (variants?.set !== "posix_shell") continue;
    (variants.rules ?? []).forEach((rule, index) => {
      lintRule(rule, ["tool_schemas", name, "variants", "rules", index], report);
    });
  }
};

function lintRule(rule: VariantRule, path: readonly PathSegment[], report: Report): void {
  const written = [
    ...(rule.match === undefined ? [] : [["match", plainOf(rule.match)] as const]),
    ...(rule.equals ?? []).map((text) => ["equals", text] as const),
    ...(rule.like?.split("|") ?? []).map((glob) => ["like", glob.trim()] as const),
  ];
  for (const [key, text] of written) {
    const outside = outsideOfCommands(text);
    if (outside === null) continue;
    const message = `the rules of a shell see one command at a time, its words joined by single spaces: ${outside} fits only inside of a quoted word`;
    const mend = "write rules for the commands themselves; output to a file is a write anyway";
    report("warning", "unfit-rule", [...path, key], message, mend);
  }
}

/** A regular expression without the signs of its own language that a shell has, too. */
function plainOf(pattern: string): string {
  return pattern
    .replaceAll(/\(\?(?:<\w+>|P<\w+>|[\w-]*[:)])/g, "(")
    .replaceAll(/\\([|;&<>])|\|/g, (found, sign?: string) => sign ?? (found === "|" ? "\n" : found))
    .replace(/^\^/, "");
}

/** What stands between commands or beside their words; each with its name in a message. */
const OUTSIDE: readonly (readonly [RegExp, string])[] = [
  [/&&/, "`&&`"],
  [/\|/, "`|`"],
  // A last `;` may be that of `find -exec`.
  [/;[^\S\n]*[\w./*&|]/, "`;`"],
  [/(?:^|[^-=])>(?!$)|(?:^|\s)<</, "a redirection"],
  [/\S {2,}\S/, "more than one space"],
  [/^[A-Za-z_]\w*=\S* /, "a variable before a command"],
];

function outsideOfCommands(text: string): string | null {
  return OUTSIDE.find(([sign]) => sign.test(text))?.[1] ?? null;
}
