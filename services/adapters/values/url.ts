/**
 * Serializes an absolute URL by the WHATWG URL standard, as this Node implements it: scheme and
 * host in lower case, the host in ASCII, without default port, dot segments, tabs, line feeds and
 * outer spaces, and percent-encoded where necessary. User and password, the order of query
 * parameters, the fragment, the spelling of percent-encoded octets and a trailing slash stay. Null
 * where the text is no absolute URL, or where its serialization parses as another URL.
 */
export function url(text: string): string | null {
  const href = parse(text);
  return href !== null && parse(href) === href ? href : null;
}

function parse(text: string): string | null {
  return URL.canParse(text) ? new URL(text).href : null;
}
