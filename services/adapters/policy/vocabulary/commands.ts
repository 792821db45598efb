/** The key `commands` of a tool: how its argument is parsed, and rules on what it does. */
import { z } from "zod";
import { RULE_POSITIONS } from "../../../commands/rules/rule.ts";
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
    "Where the paths of the command lie. A rule that allows: all of them, `inside` by default. One that holds or denies: any of them.",
  ),
  writes: key(position, "The same of the paths that the command writes."),
  statement: key(oneOrMore, "Of `sql`: kinds of statements, such as delete."),
  tables: key(
    oneOrMore,
    "Of `sql`: a rule that allows is about statements on these tables alone, one that holds or denies about any that names one.",
  ),
  method: key(oneOrMore, "Of `http`: methods, such as DELETE."),
  host: key(oneOrMore, "Of `http`: hosts, `*` for any characters."),
  path: key(oneOrMore, "Of `http`: paths, `*` for any characters."),
  why: key(text, "One clause for the model and the approver: `it leaves the machine`."),
};

type Keys = Record<string, z.ZodType>;

/** @param keys keys of the tool that a rule may override. */
export function commands<K extends Keys>(keys: K) {
  const map = nameType(
    "CommandsDocument",
    z.strictObject({
      language: key(language, "What the argument is written in. Default: shell."),
      argument: key(
        text,
        "The argument that is read. Default: command of shell and git, query of sql, method of http, path of files.",
      ),
      workspace: key(
        text,
        "The directory whose files are inside: `.`, in which the tool starts, or an absolute one. Default `.`.",
      ),
      readable: key(
        texts,
        "Globs of places outside that may be read, beside /usr, /tmp and the like.",
      ),
      secrets: key(
        texts,
        "Globs of files that are asked for wherever they lie; `!` takes one out. Default: .env*, *.pem, id_*, credentials*, .ssh and others.",
      ),
      assignments: key(texts, "Variables that a line may set for a command, such as NODE_ENV."),
      session: key(
        flag,
        "Lines share one shell, so that `cd` holds for the next line. Default true.",
      ),
      functions: key(
        texts,
        "Of `sql`: functions that change nothing, beside those that are known.",
      ),
      rules: rules(
        key(
          z.array(nameType("CommandRule", z.strictObject({ ...ruleKeys, ...keys }))),
          "The first that is about a command decides; a line is as strict as the strictest of its commands.",
        ),
      ),
      unclear: key(
        text,
        "Name of the tier of what is not understood, and of what no rule names. Default: the strictest of the rules, a person at least.",
      ),
      examples: key(
        z.strictObject({
          allowed: key(texts, "Calls that must be allowed."),
          held: key(texts, "Calls that must wait for a person."),
          denied: key(texts, "Calls that must be denied."),
        }),
        "Checked when the policy loads. Of `http`, a method and a URL.",
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
