/** The key `commands` of a tool: how its argument is parsed, and rules on what it does. */
import { z } from "zod";
import { RULE_POSITIONS } from "../../../commands/rules/rule.ts";
import { conditions } from "./conditions.ts";
import { nameType, rules } from "./key-facts.ts";
import { flag, key, oneOrMore, text, texts } from "./values.ts";

const language = nameType("CommandLanguage", z.enum(["shell", "git", "sql", "http", "files"]));

const position = z.enum(RULE_POSITIONS);

const ruleKeys = {
  run: key(
    oneOrMore,
    "First words of a command: `git push`, `npm test|ci|run {build|lint}`. A word with a dash is an option that must be used, wherever it stands.",
  ),
  paths: key(
    position,
    "Where the paths of the command are. A rule that allows applies if all of them are there, `inside` by default; one that holds or denies, if any of them is.",
  ),
  writes: key(position, "The same for the paths that the command writes."),
  statement: key(oneOrMore, "For `sql`: kinds of statements, such as delete."),
  tables: key(
    oneOrMore,
    "For `sql`: a rule that allows applies to statements on these tables only; one that holds or denies applies to any statement that names one of them.",
  ),
  method: key(oneOrMore, "For `http`: methods, such as DELETE."),
  host: key(oneOrMore, "For `http`: hosts, `*` for any characters."),
  path: key(oneOrMore, "For `http`: paths, `*` for any characters."),
  when: key(
    conditions,
    "What the arguments of the call must be for the rule to apply: argument to tests, as in tiers. If an argument cannot be read, a rule that holds or denies applies, and one that allows does not.",
  ),
  why: key(text, "One clause for the model and the approver: `it leaves the machine`."),
};

type Keys = Record<string, z.ZodType>;

/** @param keys keys of the tool that a rule may override. */
export function commands<K extends Keys>(keys: K) {
  const map = nameType(
    "CommandsDocument",
    z.strictObject({
      language: key(language, "Language of the argument. Default: shell."),
      argument: key(
        text,
        "The argument that is parsed. Default: command for shell and git, query for sql, method for http, path for files.",
      ),
      workspace: key(
        text,
        "The directory whose files count as inside: `.`, in which the tool starts, or an absolute path. Default `.`.",
      ),
      readable: key(
        texts,
        "Globs of paths outside that may be read, in addition to /usr, /tmp and the like.",
      ),
      secrets: key(
        texts,
        "Globs of secret files: a read of one is never free, wherever it is. `!` excludes files. Default: .env*, *.pem, id_*, credentials*, .ssh and others.",
      ),
      assignments: key(texts, "Variables that a line may set for a command, such as NODE_ENV."),
      session: key(
        flag,
        "Lines share one shell, so that `cd` holds for the next line. Default true.",
      ),
      functions: key(
        texts,
        "For `sql`: functions that change nothing, in addition to the built-in list.",
      ),
      rules: rules(
        key(
          z.array(nameType("CommandRule", z.strictObject({ ...ruleKeys, ...keys }))),
          "The first rule that applies to a command decides; a line is as strict as the strictest of its commands.",
        ),
      ),
      unclear: key(
        text,
        "Name of the tier for commands that cannot be parsed or that no rule matches. Also allow, hitl or deny. Default: the strictest tier of the rules, and at least approval by a person; without rules, the tool's own tier.",
      ),
      examples: key(
        z.strictObject({
          allowed: key(texts, "Calls that must be allowed."),
          held: key(texts, "Calls that must wait for a person."),
          denied: key(texts, "Calls that must be denied."),
        }),
        "Calls that are checked when the policy loads. For `http`, a method and a URL.",
      ),
    }),
  );
  const asMap = nameType(
    "CommandsDocument",
    z.unknown() as unknown as z.ZodType<
      z.output<typeof map>,
      { language: z.output<typeof language> }
    >,
  );
  return z.union([language.transform((word) => ({ language: word })).pipe(asMap), map], {
    error:
      "is neither a language nor a map\nwrite shell, git, sql, http or files, or a map with rules",
  });
}
