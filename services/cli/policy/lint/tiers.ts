/** Tiers: which of them can match, and matches that the author may not have meant. */
import { isDeepStrictEqual } from "node:util";
import type { PolicyDocument, PolicyTier } from "../../../core/policy/document.ts";
import { compileToolGlobs } from "../../../core/policy/tool-glob.ts";
import type { LintRule, Report } from "./finding.ts";

/** Separators between a tool's namespace and its name. */
const SEPARATORS = ["/", ".", ":", "__", "-"];

const STRICTNESS = { allowlist: 0, per_conversation_grant: 1, hitl: 2, deny: 3 } as const;

export const lintTiers: LintRule = (document, report) => {
  const tiers = document.authorization?.tiers ?? [];
  tiers.forEach((tier, index) => {
    lintShadow(tiers, index, report);
    lintCatchAll(tier, index, report);
    lintNamespaces(document, tier, index, report);
    lintAction(tier, index, report);
    lintCondition(document, index, report);
  });
};

/** Names that a tier's glob stands for; what `*` matches there is matched literally here. */
function namesOf(tier: PolicyTier, glob: string): readonly string[] {
  const canMatchLastSegment = triesLastSegment(tier) && !/[/.:]/.test(glob);
  return canMatchLastSegment
    ? [glob, ...SEPARATORS.map((separator) => `*${separator}${glob}`)]
    : [glob];
}

function triesLastSegment(tier: PolicyTier): boolean {
  return tier.action === "hitl" || tier.action === "deny";
}

function globsOf(tier: PolicyTier): readonly string[] {
  return tier.pattern.split("|").map((glob) => glob.trim());
}

export function matcherOf(tier: PolicyTier): (name: string) => boolean {
  return compileToolGlobs(tier.pattern, triesLastSegment(tier));
}

function lintShadow(tiers: readonly PolicyTier[], index: number, report: Report): void {
  const tier = tiers[index] as PolicyTier;
  // A tier with a condition leaves calls to those after it, but for one with the same condition.
  const earlier = tiers
    .slice(0, index)
    .filter(({ when }) => when === undefined || isDeepStrictEqual(when, tier.when));
  const covering = (glob: string): PolicyTier | undefined =>
    earlier.find((other) => namesOf(tier, glob).every(matcherOf(other)));
  const shadowed = globsOf(tier).flatMap((glob) => {
    const by = covering(glob);
    return by === undefined ? [] : [{ glob, by }];
  });
  if (shadowed.length === 0) return;
  const all = shadowed.length === globsOf(tier).length;
  const laxer = shadowed.some(({ by }) => STRICTNESS[by.action] < STRICTNESS[tier.action]);
  const names = [...new Set(shadowed.map(({ by }) => `\`${by.name}\``))].join(" and ");
  const what = all
    ? "never matches"
    : `never matches by ${shadowed.map(({ glob }) => `\`${glob}\``).join(", ")}`;
  report(
    laxer ? "error" : "warning",
    "shadowed-tier",
    ["authorization", "tiers", index, "pattern"],
    `the tier \`${tier.name}\` ${what}: ${names} comes first and matches every such name${laxer ? ", and is laxer" : ""}`,
    "move the narrower tier up, or remove it",
  );
}

function lintCatchAll(tier: PolicyTier, index: number, report: Report): void {
  const path = ["authorization", "tiers", index, "pattern"];
  const lax = tier.action === "allowlist" || tier.action === "per_conversation_grant";
  if (lax && globsOf(tier).includes("*")) {
    const message = `\`*\` lets the tier \`${tier.name}\` match every tool that no earlier tier matches, including unknown ones`;
    report("warning", "catch-all", path, message, "name the tools, or use `unknown_tools`");
  }
}

/** `get_*` does not match `github/get_file`: only hitl and deny tiers try the last segment. */
function lintNamespaces(
  document: PolicyDocument,
  tier: PolicyTier,
  index: number,
  report: Report,
): void {
  if (triesLastSegment(tier)) return;
  const plainGlobs = globsOf(tier).filter(
    (glob) => !/[/.:]|__/.test(glob) && !glob.startsWith("*"),
  );
  const missed = Object.keys(document.tool_schemas ?? {}).filter(
    (name) => compileToolGlobs(plainGlobs.join("|"), true)(name) && !isMatched(document, name),
  );
  const used = SEPARATORS.filter((separator) => missed.some((name) => name.includes(separator)));
  const separators = used.length === 0 ? ["/"] : used;
  const isWritten = matcherOf(tier);
  const uncovered = plainGlobs
    .map((glob) => ({ glob, wanted: separators.map((separator) => `*${separator}${glob}`) }))
    .map(({ glob, wanted }) => ({ glob, wanted: wanted.filter((one) => !isWritten(one)) }))
    .filter(({ wanted }) => wanted.length > 0);
  const proposed = uncovered.flatMap(({ wanted }) => wanted);
  const path = ["authorization", "tiers", index, "pattern"];
  const [first] = uncovered;
  // A missed name has a separator before the part that the glob matches, so a prefix remains.
  if (first === undefined) return;
  if (missed.length > 0) {
    const names = missed.map((name) => `\`${name}\``).join(", ");
    const message = `\`${tier.pattern}\` does not match ${names}: this tier matches whole names`;
    report("warning", "namespaced-names", path, message, `add \`${proposed.join("|")}\``);
  } else {
    const message = `\`${tier.pattern}\` does not match names with a namespace, such as \`server/${first.glob}\``;
    report(
      "info",
      "namespaced-names",
      path,
      message,
      `add \`${proposed.join("|")}\` if tools have namespaces`,
    );
  }
}

function isMatched(document: PolicyDocument, name: string): boolean {
  return (document.authorization?.tiers ?? []).some((tier) => matcherOf(tier)(name));
}

function lintAction(tier: PolicyTier, index: number, report: Report): void {
  const path = ["authorization", "tiers", index];
  if (tier.action === "hitl" && tier.expires_ms === undefined) {
    const message = `approvals of the tier \`${tier.name}\` have no \`expires_ms\`; the default is 15 minutes`;
    report("warning", "approval-without-expiry", path, message, "write `expires_ms: 900000`");
  }
  if (tier.action === "allowlist" && tier.when === undefined) {
    const message = `a tool that only the tier \`${tier.name}\` matches counts as a read`;
    const remedy = "declare tools that write under `tool_schemas` with `read_only: false`";
    report("info", "read-by-tier", path, message, remedy);
  }
}

/** A condition that allows means nothing where other calls are allowed as well. */
function lintCondition(document: PolicyDocument, index: number, report: Report): void {
  const { tiers = [], default: action } = document.authorization ?? {};
  const tier = tiers[index] as PolicyTier;
  if (tier.when === undefined || triesLastSegment(tier)) return;
  const following = tiers.slice(index + 1);
  const next = (glob: string): PolicyTier | undefined =>
    following.find((other) => other.when === undefined && matcherOf(other)(glob));
  const isStricter = (glob: string): boolean => {
    const other = next(glob);
    const isHeld = following.some((one) => triesLastSegment(one) && matcherOf(one)(glob));
    if (isHeld) return true;
    return other === undefined
      ? action !== "allow"
      : STRICTNESS[other.action] > STRICTNESS[tier.action];
  };
  const open = globsOf(tier).filter((glob) => !isStricter(glob));
  if (open.length === 0) return;
  const message = `the tier \`${tier.name}\` allows some calls of \`${open.join("|")}\`, and the others are allowed, too: nothing stricter follows`;
  const remedy = "add a `hitl` or `deny` tier after it, or write `default: ask`";
  report(
    "warning",
    "condition-without-rest",
    ["authorization", "tiers", index, "when"],
    message,
    remedy,
  );
}
