/** Limits of RFC 5321: of the local part, and of the whole address. */
const LOCAL_MAX = 64;
const ADDRESS_MAX = 254;

/** Words of the characters that RFC 5322 allows without quotes, joined by single dots. */
const LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/** At least two labels: people do not write to address literals or single host names. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/**
 * Normalizes a mail address: the domain in lower-case ASCII, the local part unchanged, since its
 * case may be significant. Null for anything else: display names, lists, quoted local parts,
 * literals.
 */
export function email(text: string): string | null {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  if (at < 1 || local.length > LOCAL_MAX || !LOCAL.test(local)) return null;
  const domain = hostOf(text.slice(at + 1));
  if (domain === null || !DOMAIN.test(domain)) return null;
  const address = `${local.normalize("NFC")}@${domain}`;
  return address.length > ADDRESS_MAX ? null : address;
}

/**
 * Hosts that the URL standard changes only in case: ASCII labels, not encoded, and no IP address.
 */
const PLAIN_HOST = /^(?!.*xn--)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/i;

/** Normalizes a host by the URL standard: lower case, international names in ASCII. */
function hostOf(text: string): string | null {
  if (PLAIN_HOST.test(text)) return text.toLowerCase();
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return null;
  const href = `http://${text}/`;
  return URL.canParse(href) ? new URL(href).hostname : null;
}
