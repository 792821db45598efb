import { z } from "zod";
import type { JsonValue } from "../../../core/canonical/json-value.ts";
import { commands } from "./commands.ts";
import { conditions } from "./conditions.ts";
import { nameCoreType, nameType, rule, rules } from "./key-facts.ts";
import {
  checkMode,
  count,
  duration,
  flag,
  key,
  needed,
  normalizerChain,
  rate,
  scalarOrMore,
  scope,
  spelling,
  text,
  texts,
} from "./values.ts";

export const checkModes = nameType("CheckModes", z.record(z.string(), checkMode));

export const retries = z.strictObject({
  max_attempts: key(count(1, 100), "Attempts in all, the first included."),
  retryable_status: key(
    z.array(z.int().min(100).max(599)),
    "Numeric error codes after which a call may be tried again.",
  ),
  backoff_ms: key(
    z.tuple([duration.ms, duration.ms]),
    "Shortest and longest wait before the next attempt, [min, max].",
  ),
});

const effect = nameType(
  "DeclaredEffect",
  z.strictObject({
    resource: needed(
      text,
      "What is changed, with arguments in braces: order/{order_id}/payment, or file/{files[].path} for each element of a list. An argument that a call does not have makes the effect undeclared. A part of the result, as in invoice/{result.id}, names it once the call has succeeded.",
    ),
    kind: needed(
      nameType(
        "EffectKind",
        z.enum(["create", "update", "delete", "charge", "transfer", "send", "read", "custom"]),
      ),
      "What is done to it.",
    ),
    exclusive: key(
      flag,
      "Whether the effect may happen only once in a conversation, by any tool. Default true for create, charge, transfer, delete and send, else false.",
    ),
    on_failure: key(
      z.enum(["conflict", "warn", "free"]),
      "What happens to another call with this effect while a failed call may have had it: it is refused, warned, or neither. Default conflict for charge, transfer and send, else warn.",
    ),
    scope: key(
      z.enum(["conversation", "tenant"]),
      "How far once reaches: in one conversation (default), or in all conversations of the tenant. `tenant` needs a gate with its own log, not Kafka.",
    ),
    of: key(
      text,
      "The tool that makes what the resource is in, by an effect on {result.id}. The effect then happens once for all things that equal calls of that tool made, such as the sending of two equal drafts.",
    ),
  }),
);

const similarity = z.strictObject({
  field: needed(text, "Argument that is compared."),
  threshold: needed(z.number().gt(0).max(1), "Similarity from which two values count as one."),
  with: key(z.array(text), "Arguments that must be equal."),
});

const polling = nameType(
  "PollingLimits",
  z.strictObject({
    min_interval_ms: key(duration.ms, "A call sooner than this is refused with the time to wait."),
    max_calls: key(
      count(1),
      "Identical calls with one output after which polling counts as a loop.",
    ),
  }),
);

const canonicalFields = z.array(text).min(1, {
  error:
    "is empty\nname the fields that make two calls the same, or leave the key out: then all arguments count",
});

const jsonValue = nameCoreType(
  "../canonical/json-value.ts",
  "JsonValue",
  z.unknown() as unknown as z.ZodType<JsonValue>,
);

const inputSchema = z.record(z.string(), jsonValue, {
  error: "must be a JSON Schema object\nwrite the schema as a block, or leave the key out",
});

/** A path of member names; `$` alone is not allowed. */
const MEMBER = String.raw`(?!\$(?:\.|$))[^.[\]{}*\s](?:[^.[\]{}*]*[^.[\]{}*\s])?`;
const ARGUMENT_PATH = new RegExp(String.raw`^${MEMBER}(?:\.${MEMBER})*$`);

const toolKeys = {
  risk_level: key(
    nameType("RiskLevel", z.enum(["LOW", "MEDIUM", "HIGH"])),
    "LOW: allow. MEDIUM: the first grant tier. HIGH: the hitl tier. The stricter of this and the matching tier counts.",
  ),
  canonical_fields: key(
    canonicalFields,
    "Arguments that make two calls the same; the others are ignored. Default: all arguments. to[] are the elements of a list, in any order.",
  ),
  normalizers: key(
    z.record(z.string(), normalizerChain),
    "Argument to its normalizer or chain of normalizers, applied before calls are compared.",
  ),
  spelling: key(
    spelling,
    "Whether spellings of one value make one call of a write. Default that of `deduplication`, but strict for a tool that only updates things, and for one with `commands`.",
  ),
  side_effect_resource: rule(
    key(
      text,
      "Shorthand for one exclusive effect on this resource, identified by the canonical fields.",
    ),
  ),
  input_schema: rule(
    key(inputSchema, "JSON Schema 2020-12 of the arguments; a call that breaks it is refused."),
  ),
  effects: rules(key(z.array(effect), "What the tool changes.")),
  suggest: key(texts, "Tools named to the model after a refusal."),
  sensitive: key(
    z.array(text),
    "Arguments that are stored as a keyed digest everywhere except in the allowed call.",
  ),
  read_only: key(
    flag,
    "true: a read. false: a write. Default: a read where `reads`, `polling` or `volatile` are set without effects, or where only an allowlist tier matches.",
  ),
  reads: key(
    texts,
    "Resources that a read depends on, as in `effects`; only writes to these make its answer stale.",
  ),
  polling: key(polling, "The tool is called again and again until something happens."),
  volatile: key(
    flag,
    "The output may differ each time; it is never answered from memory. Default false.",
  ),
  asks_user: key(
    flag,
    "The tool asks a person: a read whose answer ends streaks and loops, as a new turn does. Default true for names such as ask_user, ask_human and AskUserQuestion without effects.",
  ),
  volatile_output: key(
    z.array(
      z.string().regex(/^\$(\.[^.\s[\]*]+)+$/, {
        error: ({ input }) =>
          /[[\]*]/.test(String(input))
            ? "has brackets or a `*`: a path names members only, and goes into each item of a list by itself\nwrite $.items.ts for the `ts` of all items, or $.meta.ts"
            : "is not a path into the output\nwrite it from the root in dots, for example $.took_ms",
      }),
    ),
    "Parts of the output that differ each time without meaning, such as $.took_ms, or $.items.ts for all items of a list; comparisons ignore them.",
  ),
  error_patterns: key(
    texts,
    "Regular expressions; an output that one of them matches counts as a failure.",
  ),
  similarity: rules(key(z.array(similarity), "Arguments by which near duplicates are found.")),
  dedupe_window_s: key(
    duration.s,
    "How long an earlier call of a write counts for duplicates, in seconds; a read has cache_ttl_s.",
  ),
  cache_ttl_s: key(duration.s, "How long a read is answered from memory, in seconds."),
  retries: key(retries, "When a failed call may be tried again."),
  scope: key(scope, "How far a call is remembered: turn or conversation."),
  checks: key(checkModes, "Mode of reason codes for this tool."),
  repeatable: key(flag, "A repeated call is intended to have its effect again. Default false."),
  batchable: key(flag, "Identical calls of one step are intended. Default false."),
  frequency: rule(key(rate, "Calls of this tool in a window, per conversation, such as 20/min.")),
  time_limit_ms: key(duration.positiveMs, "How long one execution may take. Default 60000."),
  start_within_ms: key(
    duration.startMs,
    "An allowed call is not started later than this after its decision. At most a day. Default 60000.",
  ),
  idempotency_argument: key(
    text.regex(ARGUMENT_PATH, {
      error: ({ input }) =>
        /[[\]{}*]|(?:^|\.)\$(?:\.|$)/.test(String(input))
          ? "has a `$`, brackets, braces or a `*`: a path is made of the names of members\nwrite options.key, without $."
          : "is no path: a dot stands between two names\nwrite the argument's name, or options.idempotency_key for one inside of another",
    }),
    "Argument that carries the idempotency key, also inside another (options.idempotency_key); the model's value is overwritten and is no part of identity.",
  ),
  empty_output: key(
    flag,
    "The tool never returns output, so an empty output is no sign of a loop.",
  ),
};

const KEYS_OF_VARIANTS = [
  "read_only",
  "risk_level",
  "effects",
  "side_effect_resource",
  "reads",
  "volatile",
  "polling",
  "repeatable",
  "batchable",
  "canonical_fields",
  "normalizers",
  "dedupe_window_s",
  "cache_ttl_s",
  "scope",
  "checks",
  "suggest",
] as const;

function picked<K extends keyof typeof toolKeys>(names: readonly K[]): Pick<typeof toolKeys, K> {
  return Object.fromEntries(names.map((name) => [name, toolKeys[name]])) as Pick<
    typeof toolKeys,
    K
  >;
}

const variantKeys = {
  ...picked(KEYS_OF_VARIANTS),
  tier: key(
    text,
    "Name of the tier that applies, in place of the one that the tool's name matches; or allow, hitl or deny.",
  ),
};
const variant = nameType("VariantKeys", z.strictObject(variantKeys));

const variants = nameType(
  "VariantsDocument",
  z.strictObject(
    {
      argument: key(
        text,
        "Argument that holds the name of what is called; not needed if all rules have `when` alone.",
      ),
      rules: rules(
        key(
          z.array(
            nameType(
              "VariantRule",
              z.strictObject({
                match: key(text, "Regular expression that matches a part of the argument."),
                equals: key(
                  scalarOrMore,
                  "The whole argument, or a list of alternatives: a text, a number, true, false or null.",
                ),
                like: key(text, "Globs separated by `|`, anchored at both ends."),
                when: key(
                  conditions,
                  "What the arguments must be for the rule to apply: argument to tests, as in tiers. If an argument cannot be read, the strictest of this rule, what follows it and the tool's own keys applies.",
                ),
                ...variantKeys,
              }),
            ),
          ),
          "Rules in the order in which they are tried.",
        ),
      ),
      otherwise: rule(key(variant, "Keys for all other calls. Default: a write.")),
    },
    {
      error: ({ input }) =>
        typeof input === "string"
          ? `must be a map of \`argument\`, \`rules\` and \`otherwise\`\nfor what a shell, a database or an HTTP client does write \`commands: ${LANGUAGE_OF[input] ?? "shell"}\``
          : undefined,
    },
  ),
);

/** The language to suggest for a word that is written instead of a map. */
const LANGUAGE_OF: Readonly<Record<string, string>> = { git: "git", sql: "sql", http: "http" };

export const tool = nameType(
  "ToolDocument",
  z.strictObject({
    ...toolKeys,
    variants: key(
      variants,
      "For a meta tool: rules on the name in an argument, since each name may be a tool of its own.",
    ),
    commands: key(
      commands(variantKeys),
      "What the argument of the tool does: shell, git, sql, http, files, or a map with rules.",
    ),
  }),
);
