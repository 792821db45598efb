/** What a failure of the cluster or of kafkajs means for the pipeline. */
import {
  FatalError,
  FencedError,
  PipelineError,
  PoisonRecordError,
  RetryableError,
} from "../../runtime/errors.ts";

/** Another producer has the id, or the broker has forgotten ours: kafka.apache.org/protocol#errors. */
const FENCED = new Set([45, 47, 48, 49, 59, 90]);
const TOO_LARGE = new Set([10, 18]);
/** Not allowed, wrong credentials, a topic that cannot be: trying again cannot help. */
const REFUSED = new Map<number, string>([
  [17, "the topic's name is not valid"],
  [
    26,
    "the brokers take no session of this length: set `kafka.sessionTimeoutMs` to what lies between their " +
      "`group.min.session.timeout.ms` and `group.max.session.timeout.ms`",
  ],
  [29, "no right to use the topic: grant READ, WRITE and DESCRIBE"],
  [30, "no right to use the consumer group: grant READ"],
  [31, "no right on the cluster: grant WRITE of the topics that it writes, or IDEMPOTENT_WRITE"],
  [33, "the broker does not offer this SASL mechanism"],
  [34, "this listener does not use SASL: leave `kafka.sasl` out, or name a SASL listener"],
  [38, "more replicas are asked for than there are brokers: give fewer by --replication"],
  [53, "no right to use the transactional id: grant WRITE and DESCRIBE"],
  [58, "the user name or the password is wrong"],
]);

const UNTRUSTED =
  "the broker's certificate is not trusted: set `kafka.ssl.caFile` to that of the authority that signed it";
/** Codes of Node's TLS that come again however often it is tried. */
const UNTRUSTED_CODES = new Map<string, string>([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", UNTRUSTED],
  ["SELF_SIGNED_CERT_IN_CHAIN", UNTRUSTED],
  ["UNABLE_TO_GET_ISSUER_CERT", UNTRUSTED],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", UNTRUSTED],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", UNTRUSTED],
  ["CERT_HAS_EXPIRED", "the broker's certificate has expired: renew it"],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "the broker's certificate is of another name: use that name in `kafka.brokers`, or set `kafka.ssl.serverName`",
  ],
]);
/** A listener tells those that speak to it in the wrong way no more than this. */
const CUT_OFF = /^Closed connection$/;
/** Node's words where TLS was asked for and the other side hung up at it, as one of plain text does. */
const CUT_OFF_AT_TLS = /before secure TLS connection/;
/** What kafkajs says where its first request to a broker had no answer in time. */
const NEVER_ANSWERED = "Broker not connected";
const NOBODY_THERE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|^Connection timeout$/;

/** The protocol's error code that is behind an error, however often it was wrapped. */
export function protocolCode(error: unknown): number | undefined {
  return codesOf(error).find((code) => typeof code === "number");
}

function codesOf(error: unknown): readonly (number | string)[] {
  const codes: (number | string)[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 8; depth += 1) {
    const code: unknown = Reflect.get(at, "code");
    if (typeof code === "number" || typeof code === "string") codes.push(code);
    at = at.cause ?? partsOf(at)[0];
  }
  return codes;
}

/** What is wrong with each topic, where kafkajs tells it of several at once. */
function partsOf(error: unknown): readonly Error[] {
  const parts: unknown = error instanceof Error ? Reflect.get(error, "errors") : undefined;
  return Array.isArray(parts) ? parts.filter((part) => part instanceof Error) : [];
}

/** The broker's own words, each with the topics that it says them of. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const topics = new Map<string, string[]>();
  for (const part of partsOf(error)) {
    const topic: unknown = Reflect.get(part, "topic");
    const quotedTopics = typeof topic === "string" ? [`\`${topic}\``] : [];
    topics.set(part.message, [...(topics.get(part.message) ?? []), ...quotedTopics]);
  }
  if (topics.size === 0) return error.message;
  const lines = [...topics].map(([text, names]) => `${names.join(", ")}: ${text}`);
  return `${error.message}: ${lines.join("; ")}`;
}

function untrusted(error: unknown): string | undefined {
  for (const code of codesOf(error)) {
    const patch = UNTRUSTED_CODES.get(String(code));
    if (patch !== undefined) return patch;
  }
  return undefined;
}

/** True where another owner has taken the transactional id over, or may have. */
export function isFencedCode(code: number | undefined): boolean {
  return code !== undefined && FENCED.has(code);
}

/** True where the broker will never take a batch of this size. */
export function isTooLargeCode(code: number | undefined): boolean {
  return code !== undefined && TOO_LARGE.has(code);
}

/**
 * Total. What is not known to be hopeless is tried again: a cluster comes back.
 * @param doing what was tried, for the message: "reading toolcalls.decisions.v1[3]".
 * @param addresses where the cluster was looked for, where that may be what is wrong.
 */
export function mapKafkaError(
  error: unknown,
  doing: string,
  addresses: readonly string[] = [],
): PipelineError {
  if (error instanceof PipelineError) return error;
  const options = { cause: error };
  const code = protocolCode(error);
  const text = textOf(error);
  if (isFencedCode(code)) return new FencedError(`${doing}: ${text}`, options);
  if (isTooLargeCode(code)) {
    return new PoisonRecordError("too_large", `${doing}: ${text}`, options);
  }
  const refused = code === undefined ? undefined : REFUSED.get(code);
  if (refused !== undefined) {
    return new FatalError("log_unreadable", `${doing}: ${refused} (${text})`, options);
  }
  const trust = untrusted(error);
  if (trust !== undefined) {
    return new FatalError("log_unreadable", `${doing}: ${trust} (${text})`, options);
  }
  if (hasName(error, "KafkaJSSASLAuthenticationError")) {
    const patch = "check the user name, the password and the mechanism";
    return new FatalError("log_unreadable", `${doing}: logging in failed: ${patch}`, options);
  }
  if (hasName(error, "KafkaJSServerDoesNotSupportApiKey")) {
    return new FatalError("log_unreadable", `${doing}: ${text}`, options);
  }
  if (error instanceof TypeError || error instanceof RangeError) {
    return new FatalError("unexpected", `${doing}: ${text}`, options);
  }
  return new RetryableError(
    "log_unavailable",
    `${doing}: ${addErrorCode(error, text)}${hintOf(error, text, addresses)}`,
    options,
  );
}

/** Where a name has several addresses, Node puts what is wrong with each beside an empty text. */
function addErrorCode(error: unknown, text: string): string {
  const [code] = codesOf(error);
  return code !== undefined && /:\s*$/.test(text) ? `${text.trimEnd()} ${code}` : text;
}

function hintOf(error: unknown, text: string, addresses: readonly string[]): string {
  const where = addresses.length === 0 ? "there" : `at ${addresses.join(", ")}`;
  if (text === NEVER_ANSWERED) {
    return `; what listens ${where} does not answer as Kafka, see \`kafka.brokers\``;
  }
  if (CUT_OFF_AT_TLS.test(text)) {
    return `; the listener ${where} may not speak TLS, see \`kafka.ssl.enabled\``;
  }
  if (CUT_OFF.test(text)) return "; does that listener require TLS or SASL?";
  const isNobodyThere = [text, ...codesOf(error)].some((one) => NOBODY_THERE.test(String(one)));
  return isNobodyThere ? `; is a broker running ${where}? see \`kafka.brokers\`` : "";
}

function hasName(error: unknown, name: string): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; depth += 1) {
    if (at.name === name) return true;
    at = at.cause;
  }
  return false;
}
