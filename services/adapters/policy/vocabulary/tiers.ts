import { z } from "zod";
import { conditions } from "./conditions.ts";
import { nameType, rule } from "./key-facts.ts";
import { count, duration, flag, key, needed, rate, text } from "./values.ts";

export const glob = z
  .string()
  .refine((value) => value.split("|").every((part) => part.trim() !== ""), {
    error: "has an empty pattern\nwrite globs separated by one `|`, for example get_*|list_*",
  });

const base = {
  name: needed(text, "Name of the tier; refusals and `unknown_tools` use it."),
  pattern: needed(
    glob,
    "Globs separated by `|`, anchored at both ends; `*` is any characters. The first tier whose pattern matches is taken. In hitl and deny tiers a glob without `/` or `.` is also tried on what follows a `/`, `.`, `:` or `__` in the name.",
  ),
  when: key(
    conditions,
    "What the arguments of a call must be for the tier to apply: argument to tests, all of which must hold; of a list of maps one must hold. If an argument cannot be read, the stricter of this tier and what follows it applies.",
  ),
};

const ACTION = "What happens to a matching call: allowlist, per_conversation_grant, hitl or deny.";

const allowlist = z.strictObject({
  ...base,
  action: needed(z.literal("allowlist"), ACTION),
  rate_limit: rule(key(rate, "Calls of this tier in a window, per conversation, such as 100/min.")),
});

const grant = z.strictObject({
  ...base,
  action: needed(z.literal("per_conversation_grant"), ACTION),
  ceiling: rule(needed(count(1), "Calls of this tier that each conversation has.")),
  ttl_ms: key(
    duration.positiveMs,
    "How long the grant lasts, from the start of the conversation. Default: as long as the conversation.",
  ),
  granted_by: key(
    z.enum(["policy", "verdict"]),
    "policy (default): each conversation starts with `ceiling` calls. verdict: none until a person grants them.",
  ),
  on_exceeded: key(
    z.enum(["refuse", "hitl"]),
    "What happens past the ceiling: refuse (default), or hold the call for a person.",
  ),
});

const hitl = nameType(
  "HitlTier",
  z.strictObject({
    ...base,
    action: needed(z.literal("hitl"), ACTION),
    require_reason: key(flag, "Whether an approval needs a reason. Default false."),
    expires_ms: key(
      duration.positiveMs,
      "A held call without a verdict is refused after this. Default 900000 (15 minutes).",
    ),
    approvals: key(count(1, 16), "Approvals of different people that a call needs. Default 1."),
  }),
);

const deny = z.strictObject({ ...base, action: needed(z.literal("deny"), ACTION) });

export const tier = nameType(
  "PolicyTier",
  z.discriminatedUnion("action", [allowlist, grant, hitl, deny]),
);
