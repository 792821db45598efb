/** Checks the subject of a commit: CONTRIBUTING.md, "Commits". */

const SUBJECT_MAX = 72;
const FORM = /^(?<type>[a-z]+)\((?<scope>[a-z][a-z0-9-]*)\)(?<breaking>!?): (?<text>\S.*)$/;

/** Words that never begin an imperative. */
const NO_VERB =
  /^(a|an|the|no|not|what|when|where|which|who|one|some|each|every|all|more|is|are|was|were|it|its|this|that|there|of|in|on|for|to|and|or|but|new)$/;

/** Verbs whose imperative ends like a past tense, a third person or a participle. */
const VERBS =
  /^(need|feed|embed|seed|speed|exceed|proceed|succeed|shed|bring|ping|sing|ring|string|swing|bias|canvas|focus|alias|discuss)$|(ss|us)$/;
const OTHER_FORM = /(ed|ing|s)$/;

/** The types in the table of CONTRIBUTING.md. */
export function parseCommitTypes(contributing: string): ReadonlySet<string> {
  const [section = ""] = (contributing.split("\n## Commits\n")[1] ?? "").split("\n## ");
  return new Set(Array.from(section.matchAll(/^\| `([a-z]+)` \|/gm), ([, type = ""]) => type));
}

/** The faults of a subject; empty if it has none. */
export function findSubjectFaults(subject: string, types: ReadonlySet<string>): readonly string[] {
  const faults: string[] = [];
  if ([...subject].length > SUBJECT_MAX) faults.push(`has more than ${SUBJECT_MAX} characters`);
  if (subject.endsWith(".")) faults.push("ends with a full stop");
  const { type = "", text = "" } = FORM.exec(subject)?.groups ?? {};
  if (text === "") return [...faults, "is not `type(scope): imperative`"];
  if (!types.has(type))
    faults.push(`has the type \`${type}\`, which CONTRIBUTING.md does not list`);
  const [verb = ""] = text.split(/[ ,:;]/);
  if (verb !== verb.toLowerCase() || !/^[a-z]/.test(verb)) {
    faults.push(`begins with \`${verb}\`, not with a verb in lower case`);
  } else if (NO_VERB.test(verb) || (OTHER_FORM.test(verb) && !VERBS.test(verb))) {
    faults.push(`begins with \`${verb}\`, which is no order`);
  }
  return faults;
}
