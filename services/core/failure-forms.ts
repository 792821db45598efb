/**
 * The forms in which frameworks report that a call failed, each with its source: the one table for
 * `guard`, the executor, recordings and every other source of results. A form is a matter of
 * structure; the words of an output are no form.
 *
 * FORM-1 a form says `failed` and nothing more: the call may have taken effect.
 * FORM-2 only the code that throws can say that a call had no effect (`callgateEffect`), or an HTTP
 * status of the 4xx class in an error object, which the server sends before it acts.
 */
import { cutText } from "./cut-text.ts";
import type { FailureEffect } from "./inputs.ts";

export type FailureForm = {
  readonly name: string;
  readonly source: string;
  readonly fits: (output: Members) => boolean;
};

type Members = Readonly<Record<string, unknown>>;

/** The beginning of what the default error functions of OpenAI's Agents SDKs return. */
const AGENTS_ERROR = "An error occurred while running the tool";

export const FAILURE_FORMS: readonly FailureForm[] = [
  {
    name: "MCP tool result",
    source: "https://modelcontextprotocol.io/specification/2025-06-18/server/tools#error-handling",
    fits: ({ isError }) => isError === true,
  },
  {
    name: "LangChain ToolMessage",
    source: "https://docs.langchain.com/oss/javascript/langchain/messages#tool-message",
    fits: ({ status, content }) => status === "error" && content !== undefined,
  },
  {
    name: "LangChain ToolMessage as JSON",
    source: "https://docs.langchain.com/oss/javascript/langchain/messages#tool-message",
    fits: ({ lc, kwargs }) => lc !== undefined && isRecord(kwargs) && kwargs["status"] === "error",
  },
  {
    name: "AI SDK tool output",
    source: "https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message#toolresultpart",
    fits: ({ type, value }) => isErrorType(type) && value !== undefined,
  },
  {
    name: "AI SDK tool result",
    source: "https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message#toolresultpart",
    fits: ({ type, output }) =>
      type === "tool-result" && isRecord(output) && isErrorType(output["type"]),
  },
  {
    name: "AI SDK tool error",
    source: "https://ai-sdk.dev/docs/ai-sdk-core/tools-and-tool-calling#handling-errors",
    fits: ({ type, error }) => type === "tool-error" && error !== undefined,
  },
  {
    name: "OpenAI Agents tool output",
    source: "https://openai.github.io/openai-agents-js/guides/tools/",
    fits: ({ type, text }) => type === "text" && isAgentsError(text),
  },
  {
    name: "success flag",
    source:
      "https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/ and many others",
    fits: ({ success }) => success === false,
  },
  {
    name: "ok flag",
    source: "https://api.slack.com/web#evaluating_responses and https://fetch.spec.whatwg.org/",
    fits: ({ ok }) => ok === false,
  },
];

/** What an output in one of the forms reports. */
export type RecognizedFailure = {
  readonly form: string;
  readonly message: string;
  readonly effect: FailureEffect;
};

/** Null: the output has none of the forms. Never throws, even if reading the value throws. */
export function failureForm(output: unknown): RecognizedFailure | null {
  try {
    return typeof output === "string" ? formOfText(output) : formOfValue(output);
  } catch {
    return null;
  }
}

function formOfText(text: string): RecognizedFailure | null {
  if (isAgentsError(text)) {
    return { form: "OpenAI Agents error text", message: shown(text), effect: "possible" };
  }
  if (!/^\s*\{/.test(text)) return null;
  return formOfValue(JSON.parse(text));
}

function formOfValue(output: unknown): RecognizedFailure | null {
  if (!isRecord(output)) return null;
  const form = FAILURE_FORMS.find(({ fits }) => fits(output));
  if (form === undefined) return null;
  return { form: form.name, message: messageOf(output), effect: effectOf(output) };
}

/** A response of `fetch`, or an object made of one, has the status beside the flag. */
function effectOf({ ok, status }: Members): FailureEffect {
  return ok === false && isRefusal(status) ? "none" : "possible";
}

/**
 * Where HTTP clients put the status of a response: Node, axios, got, ky, the SDKs of AWS, OpenAI
 * and Stripe.
 */
const STATUS_PATHS: readonly (readonly string[])[] = [
  ["status"],
  ["statusCode"],
  ["response", "status"],
  ["response", "statusCode"],
  ["$metadata", "httpStatusCode"],
];

/**
 * What an exception says of the effect of the call: the author's own `callgateEffect`, else what
 * the status of an error object implies, else `possible`. Never throws.
 */
export function effectOfThrown(thrown: unknown): FailureEffect {
  try {
    if (!isRecord(thrown)) return "possible";
    const written = thrown["callgateEffect"];
    if (written === "none" || written === "possible") return written;
    if (!isErrorObject(thrown)) return "possible";
    const statuses = STATUS_PATHS.map((path) => memberAt(thrown, path)).filter(isStatus);
    return statuses.length > 0 && statuses.every(isRefusal) ? "none" : "possible";
  } catch {
    return "possible";
  }
}

/**
 * Whether the status says that the server did not act. Excluded are time-out, conflict with the
 * present state, and sent too early.
 */
function isRefusal(status: unknown): boolean {
  if (!isStatus(status) || status < 400 || status > 499) return false;
  return status !== 408 && status !== 409 && status !== 425;
}

function isStatus(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 100 && value <= 599;
}

function isErrorObject(value: Members): boolean {
  return value instanceof Error || typeof value["message"] === "string";
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), value);
}

function isRecord(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isErrorType(type: unknown): boolean {
  return type === "error-text" || type === "error-json";
}

function isAgentsError(text: unknown): boolean {
  return typeof text === "string" && text.startsWith(AGENTS_ERROR);
}

const MESSAGE_CHARACTERS = 1_000;

const MESSAGE_MEMBERS: readonly string[] = [
  "error",
  "message",
  "value",
  "content",
  "text",
  "output",
];

function messageOf(output: Members): string {
  for (const name of MESSAGE_MEMBERS) {
    const said = textIn(output[name]);
    if (said !== undefined) return shown(said);
  }
  return shown(JSON.stringify(output) ?? "");
}

function textIn(value: unknown): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  if (Array.isArray(value)) return value.map(textIn).find((text) => text !== undefined);
  if (!isRecord(value)) return undefined;
  return textIn(value["message"] ?? value["text"] ?? value["value"]);
}

function shown(text: string): string {
  return cutText(text, MESSAGE_CHARACTERS);
}
