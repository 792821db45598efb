/** Maps failures of the cluster and of kafkajs to the errors of the runtime. */
import {
  FatalError,
  FencedError,
  PipelineError,
  PoisonRecordError,
  RetryableError,
} from "../../runtime/errors.ts";

/** Another producer has the id, or the broker forgot ours: kafka.apache.org/protocol#errors. */
const FENCED = new Set([45, 47, 48, 49, 59, 90]);
const TOO_LARGE = new Set([10, 18]);
/** Missing rights, wrong credentials, invalid topics: a retry cannot help. */
const REFUSED = new Map<number, string>([
  [17, "the topic's name is not valid"],
  [
    26,
    "the brokers do not accept this session time-out: set `kafka.sessionTimeoutMs` between their " +
      "`group.min.session.timeout.ms` and `group.max.session.timeout.ms`",
  ],
  [29, "no right to use the topic: grant READ, WRITE and DESCRIBE"],
  [30, "no right to use the consumer group: grant READ"],
  [31, "no right on the cluster: grant WRITE of the topics that it writes, or IDEMPOTENT_WRITE"],
  [33, "the broker does not offer this SASL mechanism"],
  [34, "this listener does not use SASL: leave `kafka.sasl` out, or use a listener with SASL"],
  [38, "there are fewer brokers than replicas: lower --replication"],
  [53, "no right to use the transactional id: grant WRITE and DESCRIBE"],
  [58, "the user name or the password is wrong"],
]);

const UNTRUSTED =
  "the broker's certificate is not trusted: set `kafka.ssl.caFile` to the certificate of the authority that signed it";
/** Error codes of Node's TLS that a retry cannot change. */
const UNTRUSTED_CODES = new Map<string, string>([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", UNTRUSTED],
  ["SELF_SIGNED_CERT_IN_CHAIN", UNTRUSTED],
  ["UNABLE_TO_GET_ISSUER_CERT", UNTRUSTED],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", UNTRUSTED],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", UNTRUSTED],
  ["CERT_HAS_EXPIRED", "the broker's certificate has expired: renew it"],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "the broker's certificate is for another name: use that name in `kafka.brokers`, or set `kafka.ssl.serverName`",
  ],
]);
/** All that a listener says to a client that lacks TLS or SASL. */
const CUT_OFF = /^Closed connection$/;
/**
 * Node's message where the server hung up during the TLS handshake, as a plaintext listener does.
 */
const CUT_OFF_AT_TLS = /before secure TLS connection/;
/** Message of kafkajs where its first request to a broker got no answer in time. */
const NEVER_ANSWERED = "Broker not connected";
const NOBODY_THERE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|^Connection timeout$/;

/** Finds the protocol's error code in an error or in its causes. */
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

/** The errors of the single topics, where kafkajs reports several at once. */
function partsOf(error: unknown): readonly Error[] {
  const parts: unknown = error instanceof Error ? Reflect.get(error, "errors") : undefined;
  return Array.isArray(parts) ? parts.filter((part) => part instanceof Error) : [];
}

/** The broker's messages, each with the topics that it is about. */
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

function explainDistrust(error: unknown): string | undefined {
  for (const code of codesOf(error)) {
    const text = UNTRUSTED_CODES.get(String(code));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** True where another owner has, or may have, taken the transactional id over. */
export function isFencedCode(code: number | undefined): boolean {
  return code !== undefined && FENCED.has(code);
}

/** True where the broker will never take a batch of this size. */
export function isTooLargeCode(code: number | undefined): boolean {
  return code !== undefined && TOO_LARGE.has(code);
}

/**
 * Maps every error. An error that is not known to be final becomes a RetryableError, since a
 * cluster may come back.
 * @param doing what failed, for the message: "reading toolcalls.decisions.v1[3]".
 * @param addresses the broker addresses, for errors that a wrong address may cause.
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
  const distrust = explainDistrust(error);
  if (distrust !== undefined) {
    return new FatalError("log_unreadable", `${doing}: ${distrust} (${text})`, options);
  }
  if (hasName(error, "KafkaJSSASLAuthenticationError")) {
    const hint = "check the user name, the password and the mechanism";
    return new FatalError("log_unreadable", `${doing}: authentication failed: ${hint}`, options);
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

/** Where a host has several addresses, Node's error has an empty message and only codes. */
function addErrorCode(error: unknown, text: string): string {
  const [code] = codesOf(error);
  return code !== undefined && /:\s*$/.test(text) ? `${text.trimEnd()} ${code}` : text;
}

function hintOf(error: unknown, text: string, addresses: readonly string[]): string {
  const where = addresses.length === 0 ? "there" : `at ${addresses.join(", ")}`;
  if (text === NEVER_ANSWERED) {
    return `; the server ${where} does not answer as Kafka does, see \`kafka.brokers\``;
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
