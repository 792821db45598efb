import { z } from "zod";
import { LIMITS } from "../../../core/limits.ts";
import { conditions } from "./conditions.ts";
import { nameType, rule, rules } from "./key-facts.ts";
import { glob, tier } from "./tiers.ts";
import { checkModes, retries, tool } from "./tool.ts";
import {
  count,
  duration,
  flag,
  key,
  needed,
  scope,
  spelling,
  text,
  texts,
  threshold,
} from "./values.ts";

const preset = nameType("PolicyPreset", z.enum(["observe", "balanced", "strict"]));

const loopThresholds = z.strictObject({
  same_output: key(threshold(2), "Identical calls with one output. Default 3."),
  any_output: key(threshold(2), "Identical calls, whatever the output. Default off."),
  any_pace: key(
    threshold(2),
    "Identical calls with one output, however far apart, of which the model is advised. Default 8.",
  ),
});

const loopThreshold = z.union([count(2), loopThresholds], {
  error:
    "must be a whole number from 2, or same_output and any_output\nwrite 3, or { same_output: 3, any_output: off }",
});

const deduplication = z.strictObject({
  window_ms: key(
    duration.ms,
    "How long an earlier call of a write counts for duplicates; a read has cache_ttl_ms. Default 300000.",
  ),
  strategy: key(
    z.enum(["semantic_hash", "byte_hash"]),
    "semantic_hash (default): normalized identity. byte_hash: all arguments in canonical JSON, no normalizers, no canonical_fields.",
  ),
  spelling: key(
    spelling,
    "lenient (default): a write is the same one, and a resource has the same name, whatever white space a text has at its ends, its invisible characters and Unicode form, the order of a URL's query, and whether a list or object is sent as JSON text. strict: texts are compared as they are.",
  ),
  loop_threshold: key(
    loopThreshold
      .transform((written) =>
        typeof written === "number" ? { same_output: written, any_output: written } : written,
      )
      .pipe(loopThresholds),
    "Number of identical calls that make a loop. A number: whatever the output. Default { same_output: 3, any_output: off }.",
  ),
  cache_ttl_ms: key(duration.ms, "How long reads are answered from memory. Default 60000."),
  scope: key(scope, "How far a call is remembered. Default conversation."),
  max_history: key(
    count(LIMITS.recentCallsMin, LIMITS.recentCallsMax),
    `Recent calls stored to find loops; the same as limits.recent_calls. Default ${LIMITS.recentCallsDefault}.`,
  ),
});

const toolDeduplication = z.strictObject({
  enabled: key(
    flag,
    "true: calls are remembered for the turn; false: the checks for duplicates and for no progress are off.",
  ),
  exact_duplicate_threshold: key(
    count(1),
    "The n-th repeat is answered from memory; where it is written, calls are remembered for the turn. Default 1.",
  ),
  no_progress_threshold: key(
    count(2),
    "Different calls of one tool with one output at which no progress is seen.",
  ),
  append_system_note: key(
    flag,
    "Whether refusals of duplicates, and answers from memory, have a note for the model. Default true.",
  ),
});

const idempotency = z.strictObject({
  generation: key(z.literal("content_based"), "How keys are made; content_based is the one way."),
  header: key(z.literal("X-Agent-Idempotency-Key"), "Header that executors send the key in."),
  ttl_ms: key(duration.positiveMs, "How long downstream remembers a key. Default 86400000."),
  unknown_outcome: key(
    z.enum(["refuse", "retry_if_absent"]),
    "What the same write gets while its outcome is unknown: refused until it is settled, or, once a read shows that it did nothing, allowed under the same key. Default refuse.",
  ),
});

const AMOUNT = /^[0-9]{1,9}(\.[0-9]{1,6})?$/;
const AMOUNT_ERROR =
  'is not an amount\nwrite up to nine digits, and up to six after a point: "5.00"';
const CURRENCY_ERROR = "is not a currency\nwrite its three capital letters: USD";

const currencyCode = z.string().regex(/^[A-Z]{3}$/, { error: CURRENCY_ERROR });

const budgetLimits = {
  max_steps: rule(key(count(1), "Model messages with calls.")),
  max_tool_calls: rule(key(count(1), "Calls that were allowed.")),
  max_seconds: rule(
    key(count(1), "Gate time since the first proposal, less time held for approval."),
  ),
  max_spend: rule(
    key(
      z.strictObject({
        amount: needed(
          z.string().regex(AMOUNT, { error: AMOUNT_ERROR }),
          "Decimal amount, in quotes.",
        ),
        currency: needed(currencyCode, "Three-letter currency code."),
      }),
      "Money that calls may cost.",
    ),
  ),
};

const limitsOfBudget = nameType("BudgetLimits", z.strictObject(budgetLimits));

const budgetByName = nameType(
  "BudgetDocument",
  z.strictObject({
    tools: needed(glob, "Globs of the tools whose calls count, as in a hitl tier."),
    when: key(
      conditions,
      "What the arguments must be for a call to count, as in tiers. A call whose arguments cannot be read counts.",
    ),
    per: key(
      z.enum(["turn", "conversation", "day"]),
      "How long a call counts: as long as the conversation lasts (default), for its turn, or for a day from midnight UTC, at most as long as the conversation.",
    ),
    amount: key(
      text,
      "The argument with what a call costs: amount, order.total, or items[].price, of which the sum counts. Default: the cost that the platform states.",
    ),
    amounts_in: key(currencyCode, "Currency of amounts that name none."),
    max_tool_calls: budgetLimits.max_tool_calls,
    max_spend: budgetLimits.max_spend,
  }),
);

const BUDGETS_MAX = 64;

const budgetsByName = z
  .record(text, budgetByName)
  .refine((all) => Object.keys(all).length <= BUDGETS_MAX, {
    error: `has more than ${BUDGETS_MAX} budgets\nmerge some of them`,
  });

const budgets = z.strictObject({
  ...budgetLimits,
  per_conversation: key(limitsOfBudget, "The same limits over a conversation."),
  per_tool: key(limitsOfBudget, "The same limits for each tool by itself, per turn."),
  by_name: key(
    budgetsByName,
    "Budgets of some tools, by name: each counts calls and money by itself. A condition may ask what one has spent.",
  ),
});

const tools = z.strictObject({
  dedupe_window_s: key(
    duration.s,
    "How long an earlier call of a write counts for duplicates, in seconds; a read has cache_ttl_s.",
  ),
  cache_ttl_s: key(duration.s, "How long reads are answered from memory, in seconds."),
  retries: key(retries, "When a failed call may be tried again."),
});

const lasts = z.enum(["turn", "conversation"]);
const end = z.union(
  [
    threshold(1),
    z.strictObject({
      at: needed(threshold(1), "Strike at which the task is ended."),
      lasts: key(lasts, "turn (default): the next turn goes on. conversation: nothing goes on."),
    }),
  ],
  {
    error:
      "must be a whole number, `off`, or at and lasts\nwrite 4, off, or { at: 4, lasts: conversation }",
  },
);

const escalation = nameType(
  "EscalationBlock",
  z.strictObject({
    ask: key(
      threshold(1),
      "Strike at which the model is asked what it will do differently. Default 1.",
    ),
    options: key(threshold(1), "Strike at which it is shown its options. Default 2."),
    user_input: rule(key(threshold(1), "Strike at which it must ask the user. Default 4.")),
    end: rule(
      key(
        end
          .transform((written) =>
            typeof written === "object"
              ? { at: written.at, lasts: written.lasts ?? ("turn" as const) }
              : { at: written, lasts: "turn" as const },
          )
          .pipe(z.strictObject({ at: threshold(1), lasts })),
        "Strike at which the task is ended. Default off.",
      ),
    ),
  }),
);

const acknowledgement = z.strictObject({
  mode: key(
    z.enum(["off", "implicit", "explicit"]),
    "Whether the model must show that it goes another way. implicit (default): a different call does.",
  ),
  patterns: key(texts, "Texts that acknowledge."),
  unless: key(texts, "Texts that do not."),
});

const kill = z.strictObject({
  tools: rules(key(texts, "Tools that are refused.")),
  agents: rules(key(texts, "Agents that are refused.")),
  tenants: rules(key(texts, "Tenants that are refused.")),
  all: rule(key(flag, "Whether everything is refused.")),
});

const conversation = z.strictObject({
  max_age_ms: key(
    duration.positiveMs,
    "A conversation starts afresh after this. Default 604800000.",
  ),
  idle_ms: key(
    duration.positiveMs,
    "It starts afresh after this long without a call. Default 86400000.",
  ),
});

const ARGUMENT_BYTES = { min: 1_024, max: 900 * 1_024 };

const limits = z.strictObject({
  arguments_bytes: key(
    count(ARGUMENT_BYTES.min, ARGUMENT_BYTES.max),
    "Largest arguments. Default 262144.",
  ),
  output_bytes: key(
    count(0, LIMITS.outputBytesMax),
    `Largest output stored to answer from memory. Default ${LIMITS.outputBytesDefault}.`,
  ),
  recent_calls: key(
    count(LIMITS.recentCallsMin, LIMITS.recentCallsMax),
    `Recent calls stored to find loops. Default ${LIMITS.recentCallsDefault}.`,
  ),
});

const alias = nameType(
  "ResourceAlias",
  z.strictObject({
    resource: needed(text, "The resource that the names mean."),
    names: needed(texts, "Its names, as tool.argument."),
  }),
);

const edge = z.tuple([text, text]);

const edges = z.strictObject({
  contains: key(z.array(edge), "Pairs [whole, part]."),
  derives: key(z.array(edge), "Pairs [source, derived]."),
});

const loops = z.strictObject({
  drift: rule(
    key(
      z.strictObject({
        warn: key(
          count(2, LIMITS.recentCallsMax),
          "Calls at which the model is warned. Default 5.",
        ),
        refuse: key(
          threshold(2),
          "Calls at which the next one of the turn is refused, or off. Default 7; where tool_deduplication.no_progress_threshold is written, off.",
        ),
      }),
      "Different calls of one to three tools with nothing new.",
    ),
  ),
  cycle_rounds: rule(
    key(count(2, 16), "Rounds of one cycle of calls at which it is a loop. Default 3."),
  ),
  rotation: rule(
    key(
      z.strictObject({
        calls: key(count(2, LIMITS.recentCallsMax), "Recent calls looked at. Default 24."),
        keys: key(count(1, LIMITS.recentCallsMax), "Different calls among them. Default 8."),
      }),
      "Many calls that go through few different ones.",
    ),
  ),
  failure_streak: rule(
    key(
      z.strictObject({
        same: key(
          count(1, LIMITS.recentCallsMax),
          "Failures of one call with one error. Default 3.",
        ),
        transient: key(
          count(1, LIMITS.recentCallsMax),
          "The same where the error is transient. Default 5.",
        ),
        over_turns: key(
          count(1, LIMITS.recentCallsMax),
          "Turns in which it failed so, with nothing written since. Default 5.",
        ),
        pause_ms: key(
          z.tuple([duration.ms, duration.ms]),
          "How long the next try waits, [first, longest]; it doubles with each further failure. Default [60000, 300000].",
        ),
      }),
      "How often an identical call may fail before it is refused.",
    ),
  ),
  failure_run: rule(
    key(
      z.strictObject({
        same_tool: key(
          count(1, LIMITS.recentCallsMax),
          "Failures of one tool with one error. Default 5.",
        ),
        any: key(count(1, LIMITS.recentCallsMax), "Failures in a row. Default 8."),
      }),
      "Failures of different calls in a row.",
    ),
  ),
});

const defaultAction = z.enum(["allow", "ask", "deny"], {
  error:
    "is none of allow, ask and deny\nwrite `default: ask`, and a person decides on writes that nothing names",
});

const authorization = z.strictObject({
  default: rule(
    key(
      defaultAction,
      "What happens to a declared write that no tier, `risk_level` or rule names: allow, ask (held for a person on the terms of the first hitl tier) or deny. Reads are allowed. Without it: allow, and ask under `preset: strict`; `policy lint` then reports an error.",
    ),
  ),
  tiers: rules(key(z.array(tier), "Tiers in the order in which they are tried.")),
});

/** Every block of a policy, under the names that the document has. */
export const blockShape = {
  preset: key(
    preset,
    "Starting point that everything else overrides: observe (nothing is refused), balanced (default) or strict.",
  ),
  mode: key(
    z.enum(["enforce", "shadow"]),
    "shadow: the whole policy decides and refuses nothing. Default enforce.",
  ),
  unknown_tools: rule(
    key(
      text,
      "What happens to a tool that the policy does not declare: deny (default), hitl, allow, or the name of a tier.",
    ),
  ),
  checks: key(
    checkModes,
    "Mode of reason codes: enforce, warn (allowed, with a note), shadow (recorded only) or off.",
  ),
  deduplication: rule(key(deduplication, "When two calls are the same, and for how long.")),
  tool_deduplication: key(toolDeduplication, "Duplicates within a turn."),
  idempotency: key(idempotency, "Keys by which downstream recognises a repeated call."),
  budgets: key(budgets, "Limits of one run, which is one turn."),
  tools: key(tools, "Defaults for all tools."),
  escalation: key(
    escalation,
    "Strikes at which refusals grow stronger. Each level is a number or off.",
  ),
  acknowledgement: key(acknowledgement, "What the model must show after it was shown its options."),
  authorization: key(authorization, "Who may call what: tiers by tool name."),
  tool_schemas: key(z.record(z.string(), tool), "The declaration of each tool, by its exact name."),
  kill: key(kill, "Tools, agents and tenants that are refused outright."),
  conversation: key(conversation, "How long a conversation is remembered."),
  limits: key(limits, "Sizes."),
  aliases: key(z.array(alias), "Different names of one resource."),
  edges: key(edges, "Relations between resources."),
  loops: key(loops, "When repeated calls are a loop."),
} as const;

/** `retries` may also stand at top level, where it means `tools.retries`. */
export const topLevelRetries = key(retries, "The same as tools.retries.");

export const policyDocument = nameType("PolicyDocument", z.strictObject(blockShape));
