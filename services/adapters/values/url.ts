/**
 * The serialization of an absolute URL by the WHATWG URL standard, as this Node implements it: scheme and host in lower
 * case, host in ASCII, default port and dot segments gone, tab, line feed and outer spaces dropped, what must be
 * percent-encoded encoded. Left as they are: user and password, the order of query parameters, the fragment, the
 * spelling of percent-encoded octets, a slash at the end. Null where the text is no absolute URL, or where its
 * serialization reads as another URL.
 */
export function url(text: string): string | null {
  const href = parse(text);
  return href !== null && parse(href) === href ? href : null;
}

function parse(text: string): string | null {
  return URL.canParse(text) ? new URL(text).href : null;
}
