/** The domain of a mail address or of a URL. */
import type { JsonValue } from "../../canonical/json-value.ts";
import type { ValueCapabilities } from "../../capabilities.ts";
import type { Truth } from "./truth.ts";

/** A domain as texts have it: lower-case ASCII without a dot at the end. Null: it is no domain. */
export function readDomain(written: string, { email }: ValueCapabilities): string | null {
  if (/[@\s/:]/.test(written) || written.startsWith(".")) return null;
  const address = email(`a@${written.replace(/\.$/, "")}`);
  return address === null ? null : address.slice(address.lastIndexOf("@") + 1);
}

/** Whether the value is in one of the domains, or in a subdomain of one. */
export function isInDomain(
  value: JsonValue | undefined,
  domains: readonly string[],
  capabilities: ValueCapabilities,
): Truth {
  if (typeof value !== "string") return "unreadable";
  const domain = domainOf(value, capabilities);
  if (domain === null) return "unreadable";
  return domains.some((one) => domain === one || domain.endsWith(`.${one}`));
}

function domainOf(text: string, { email, url }: ValueCapabilities): string | null {
  if (text.includes("://")) {
    const serialized = isPlainUrl(text) ? url(text) : null;
    return serialized === null ? null : hostOf(serialized);
  }
  const address = email(text);
  return address === null ? null : address.slice(address.lastIndexOf("@") + 1);
}

/** Programs disagree on the host of a URL with user names, escapes in the host or backslashes. */
function isPlainUrl(text: string): boolean {
  const [, authority = ""] = /^[^:]*:\/\/([^/?#]*)/.exec(text) ?? [];
  return authority !== "" && !/[@%]/.test(authority) && !/[\\\s\p{Cc}]/u.test(text);
}

function hostOf(url: string): string | null {
  const [, authority] = /^https?:\/\/([^/?#]+)/.exec(url) ?? [];
  return authority === undefined ? null : authority.replace(/:[0-9]*$/, "").replace(/\.$/, "");
}
