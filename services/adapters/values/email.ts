/** Lengths by RFC 5321: of the local part, and of the whole address. */
const LOCAL_MAX = 64;
const ADDRESS_MAX = 254;

/** Words of the letters that RFC 5322 allows without quotes, joined by single dots. */
const LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/** At least two labels; an address literal or a bare host is not what people write to. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/**
 * One mail address: the domain in lower-case ASCII, the local part as it is, since its case may mean something to its
 * host. Null for anything else: names beside an address, lists, quoted local parts, address literals.
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

/** Labels of a host that a URL writes as they are, up to case: ASCII, none encoded, and no address of numbers. */
const PLAIN_HOST = /^(?!.*xn--)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/i;

/** As a URL writes a host: lower case, international names in ASCII. */
function hostOf(text: string): string | null {
  if (PLAIN_HOST.test(text)) return text.toLowerCase();
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return null;
  const href = `http://${text}/`;
  return URL.canParse(href) ? new URL(href).hostname : null;
}
