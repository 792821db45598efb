/**
 * Kinds of text in the configuration. An error text has two lines: the problem, and its remedy. An
 * empty text is reported once, as empty.
 */
import { isIP } from "node:net";
import { z } from "zod";

const PORT_MAX = 65_535;
/** The brokers' limit. */
const TOPIC_CHARACTERS_MAX = 249;
/** The longest suffix is `.dead-letter.v1`. */
const PREFIX_CHARACTERS_MAX = TOPIC_CHARACTERS_MAX - ".dead-letter.v1".length;

export const text = () => z.string().min(1);

/** A name that brokers or servers compare, in which a space at either end would matter. */
export const name = () =>
  text().refine(
    (input) => input.trim() === input && !/\p{Cc}/u.test(input),
    "begins or ends with a space, or has a control character\nremove it",
  );

export const topicName = () => topicText(TOPIC_CHARACTERS_MAX);
export const topicPrefix = () => topicText(PREFIX_CHARACTERS_MAX);

function topicText(most: number) {
  return text().refine(
    (input) => /^[\w.-]*$/.test(input) && input.length <= most && !/^\.{1,2}$/.test(input),
    `is not valid in a topic name\nwrite at most ${most} letters, digits, \`.\`, \`_\` and \`-\``,
  );
}

const HOST_AND_PORT = /^(?:\[[0-9A-Fa-f:.]+\]|[^\s:/]+):(\d{1,5})$/;

export const address = () =>
  z
    .string()
    .refine(
      (input) => isPort(HOST_AND_PORT.exec(input)?.[1]),
      `is not an address\nwrite \`host:port\`, without a scheme; a port is 1 to ${PORT_MAX}`,
    );

function isPort(digits: string | undefined): boolean {
  return digits !== undefined && Number(digits) >= 1 && Number(digits) <= PORT_MAX;
}

/** The host that a server listens on, or that a certificate names; without a port. */
export const hostName = () =>
  text().refine(
    (input) => input === "" || isIP(input) !== 0 || /^\w[\w.-]*$/.test(input),
    "is not a host\nwrite a host name or an IP address, without scheme and port",
  );

/** RFC 3986, as far as its characters go. */
export const uriReference = () =>
  text().refine(
    (input) => /^[\w.~:/?#[\]@!$&'()*+,;=%-]*$/.test(input),
    "is not a URI or the path of one\nwrite it without spaces, and other letters as `%` and two digits",
  );

const url = () =>
  z.url({
    error: ({ code }) =>
      code === "invalid_type" ? undefined : "is not a URL\nwrite it with its scheme",
  });

export const httpUrl = () =>
  url().refine(
    isHttpUrl,
    "is not the address of an API\nwrite `http://host:port` or `https://host`",
  );

function isHttpUrl(input: string): boolean {
  if (!URL.canParse(input)) return true;
  const { protocol, port } = new URL(input);
  return /^https?:$/.test(protocol) && port !== "0";
}

export const redisUrl = () =>
  url().refine(
    isRedisUrl,
    "is not the address of a Redis database\nwrite `redis://host:port/0`, or `rediss://` for TLS; the number is the database's",
  );

/** ioredis reads another scheme as the path of a socket, and a non-numeric database as NaN. */
function isRedisUrl(input: string): boolean {
  if (!URL.canParse(input)) return true;
  const { protocol, hostname, port, pathname, searchParams } = new URL(input);
  if (!/^rediss?:$/.test(protocol) || hostname === "" || port === "0") return false;
  return /^\/?\d*$/.test(pathname) && !searchParams.has("db");
}
