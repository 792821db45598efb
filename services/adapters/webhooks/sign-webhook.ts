/** Signatures of webhooks, as the Standard Webhooks specification defines them. */
import { createHmac } from "node:crypto";

const MS_PER_SECOND = 1_000;

export type SignedHeaders = {
  readonly "webhook-id": string;
  /** Seconds since 1970. */
  readonly "webhook-timestamp": string;
  /** `v1,` and the base64 of HMAC-SHA256; one for each secret, with a space between. */
  readonly "webhook-signature"?: string;
};

/**
 * @param secrets of the form `whsec_<base64>`, which receivers may use one or the other of; none:
 *   the request is not signed.
 */
export function signWebhook(
  { id, body, nowMs }: { readonly id: string; readonly body: string; readonly nowMs: number },
  secrets: readonly string[],
): SignedHeaders {
  const timestamp = String(Math.floor(nowMs / MS_PER_SECOND));
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp };
  if (secrets.length === 0) return headers;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`, "utf8");
    return `v1,${hmac.digest("base64")}`;
  });
  return { ...headers, "webhook-signature": signatures.join(" ") };
}
