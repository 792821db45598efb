/** The schema of an item of `notify.targets`: who hears of what. */
import { z } from "zod";
import { httpUrl } from "./config-texts.ts";

/** What a target can hear of. */
export const NOTIFY_EVENTS = [
  "held",
  "approved",
  "denied",
  "cancelled",
  "expired",
  "refused",
  "conversation_ended",
  "alert",
] as const;

export const NOTIFY_FORMS = ["cloudevents", "slack"] as const;

const SECRETS_MAX = 4;
/** Bounds of the Standard Webhooks specification. */
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;
const ID = /^[A-Za-z0-9][\w.-]{0,63}$/;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const webhookSecret = () =>
  z
    .string()
    .refine(
      isWebhookSecret,
      `is not a secret for webhooks\nwrite \`whsec_\` and the base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes; \`openssl rand -base64 32\` makes some`,
    );

export const notifyTarget = z.strictObject({
  id: z
    .string()
    .regex(ID, "is not an id\nwrite at most 64 letters, digits, `.`, `_` and `-`, a letter first"),
  url: httpUrl().optional(),
  urlFile: z.string().min(1).optional(),
  form: z.enum(NOTIFY_FORMS).default("cloudevents"),
  events: z
    .array(z.enum(NOTIFY_EVENTS))
    .min(1)
    .default([...NOTIFY_EVENTS]),
  secret: z.union([webhookSecret(), z.array(webhookSecret()).min(1).max(SECRETS_MAX)]).optional(),
  secretFile: z.string().min(1).optional(),
  headers: z
    .record(
      z.string().regex(HEADER_NAME, "is not the name of a header\ncorrect it"),
      z.string().regex(/^[\t\x20-\x7e]*$/, "is not a header\nwrite it in ASCII, on one line"),
    )
    .default({}),
  allowPrivate: z.boolean().default(false),
});

function isWebhookSecret(text: string): boolean {
  const bytes = Buffer.from(SECRET.exec(text)?.[1] ?? "", "base64").length;
  return bytes >= SECRET_BYTES_MIN && bytes <= SECRET_BYTES_MAX;
}
