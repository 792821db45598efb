/** Rules about HTTP calls that no method fits: they see the method alone, and nothing of the address. */
import { compilePattern } from "../../../adapters/patterns/compile-pattern.ts";
import type { VariantRule } from "../../../core/policy/document.ts";
import { compileGlobs } from "../../../core/policy/glob.ts";
import type { LintRule } from "./finding.ts";

/** Those that are registered, and some that are not. */
const METHODS = (
  "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT QUERY ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK " +
  "MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE ORDERPATCH PRI PROPFIND PROPPATCH REBIND REPORT SEARCH " +
  "UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL PURGE BAN REFRESH NOTIFY SUBSCRIBE UNSUBSCRIBE"
).split(" ");

export const lintHttpRules: LintRule = (document, report) => {
  for (const [name, { variants }] of Object.entries(document.tool_schemas ?? {})) {
    if (variants?.set !== "http") continue;
    const { argument = "method" } = variants;
    (variants.rules ?? []).forEach((rule, index) => {
      for (const [key, fits] of testsOf(rule)) {
        if (METHODS.some(fits)) continue;
        const path = ["tool_schemas", name, "variants", "rules", index, key];
        const message = `the rules of \`http\` see the method, which is \`${argument}\` of \`${name}\`, and no method fits`;
        const mend = "write methods, such as `DELETE`; what a call acts on is said by `effects`";
        report("warning", "unfit-rule", path, message, mend);
      }
    });
  }
};

/** Whether a method fits, in any case of letters. */
function testsOf({
  match,
  equals,
  like,
}: VariantRule): readonly [string, (method: string) => boolean][] {
  const tests: [string, (method: string) => boolean][] = [];
  if (match !== undefined) {
    const compiled = compilePattern(match, { ignoreCase: true, dotAll: true });
    if (compiled.ok) tests.push(["match", compiled.test]);
  }
  if (equals !== undefined) {
    // A word may be a method of some server's own.
    const isWord = equals.some((text) => /^\s*[A-Za-z-]+\s*$/.test(text));
    tests.push(["equals", () => isWord]);
  }
  if (like !== undefined) {
    const isWord = like.split("|").some((glob) => /^\s*[A-Za-z-]+\s*$/.test(glob));
    const fits = compileGlobs(like.toUpperCase(), false);
    tests.push(["like", (method) => isWord || fits(method)]);
  }
  return tests;
}
