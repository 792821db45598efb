/**
 * Kinds of text in the configuration. What is wrong is said in two lines: what it is, and what to do.
 * Empty text is a problem of its own, told once.
 */
import { isIP } from "node:net";
import { z } from "zod";

const PORT_MAX = 65_535;
/** As brokers allow it. */
const TOPIC_CHARACTERS_MAX = 249;
/** Of a prefix: behind it stands `.dead-letter.v1` at most. */
const PREFIX_CHARACTERS_MAX = TOPIC_CHARACTERS_MAX - ".dead-letter.v1".length;

export const text = () => z.string().min(1);

/** A name that brokers or servers compare: a space beside it makes another one of it. */
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
    `makes no name of a topic\nwrite letters, digits, \`.\`, \`_\` and \`-\`, ${most} at most`,
  );
}

const HOST_AND_PORT = /^(?:\[[0-9A-Fa-f:.]+\]|[^\s:/]+):(\d{1,5})$/;

export const address = () =>
  z
    .string()
    .refine(
      (input) => isPort(HOST_AND_PORT.exec(input)?.[1]),
      `is no address\nwrite \`host:port\`, without a scheme; a port is 1 to ${PORT_MAX}`,
    );

function isPort(digits: string | undefined): boolean {
  return digits !== undefined && Number(digits) >= 1 && Number(digits) <= PORT_MAX;
}

/** Where a server listens, or whom a certificate names: no port is in it. */
export const hostName = () =>
  text().refine(
    (input) => input === "" || isIP(input) !== 0 || /^\w[\w.-]*$/.test(input),
    "is no host\nwrite a host name or an IP address alone, without scheme and port",
  );

const url = () =>
  z.url({
    error: ({ code }) =>
      code === "invalid_type" ? undefined : "is no URL\nwrite it with its scheme",
  });

export const httpUrl = () =>
  url().refine(namesHttp, "is no address of an API\nwrite `http://host:port` or `https://host`");

function namesHttp(input: string): boolean {
  if (!URL.canParse(input)) return true;
  const { protocol, port } = new URL(input);
  return /^https?:$/.test(protocol) && port !== "0";
}

export const redisUrl = () =>
  url().refine(
    namesRedis,
    "names no database of a Redis server\nwrite `redis://host:port/0`, or `rediss://` for TLS; the number is the database's",
  );

/** ioredis takes other schemes for a path of a socket, and a database that is no number for NaN. */
function namesRedis(input: string): boolean {
  if (!URL.canParse(input)) return true;
  const { protocol, hostname, port, pathname, searchParams } = new URL(input);
  if (!/^rediss?:$/.test(protocol) || hostname === "" || port === "0") return false;
  return /^\/?\d*$/.test(pathname) && !searchParams.has("db");
}
