/** Rules that hold only if the writer of proposals is trusted, or must present a token. */
import { voidableRules } from "../trusted-proposals.ts";
import type { LintRule } from "./finding.ts";

/**
 * Only rules for listed agents and for spend: nearly every policy has the others, which `doctor`
 * lists.
 */
export const lintTrustedProposals: LintRule = (document, report) => {
  const rules = voidableRules(document).filter(({ what }) => /kill\.agents|of spend/.test(what));
  for (const { path, what } of rules) {
    const message = `whoever may write proposals can void ${what}`;
    const remedy =
      "where agents write `proposals` themselves, run the gate with `gate.proposals: signed`";
    report("info", "trusted-proposals", path, message, remedy);
  }
};
