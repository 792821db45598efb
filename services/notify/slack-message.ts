/**
 * An event as a message of Slack's incoming webhooks. What agents and people wrote is plain text in
 * blocks, and code in the line for receivers that show no blocks: neither can mention anybody, or
 * look like a link.
 */
import { cutText } from "../core/cut-text.ts";
import { escapeHidden } from "../core/hidden-text.ts";
import type { AlertEvent, CallEvent, ConversationEvent, NotifyEvent } from "./notify-event.ts";

export const SLACK_TYPE = "application/json; charset=utf-8";

/** Slack's limits, in characters: of a header, of a field, and of a section's text. */
const HEADER_MAX = 150;
const FIELD_MAX = 2_000;
const TEXT_MAX = 3_000;
/** In the one line. */
const WORD_MAX = 120;

type Message = {
  /** One line, in Slack's markup. */
  readonly line: string;
  readonly title: string;
  readonly fields: readonly (readonly [name: string, value: string | null])[];
  /** Longer text below the fields. */
  readonly below: readonly [name: string, value: string] | null;
  readonly hint: string | null;
};

export function slackMessageOf(event: NotifyEvent): string {
  const { line, title, fields, below, hint } = messageOf(event);
  return JSON.stringify({
    text: line,
    blocks: [
      { type: "header", text: plain(title, HEADER_MAX) },
      {
        type: "section",
        fields: fields.flatMap(([name, value]) =>
          value === null ? [] : [plain(value, FIELD_MAX, name)],
        ),
      },
      ...(below === null ? [] : [{ type: "section", text: plain(below[1], TEXT_MAX, below[0]) }]),
      ...(hint === null ? [] : [{ type: "context", elements: [plain(hint, FIELD_MAX)] }]),
    ],
  });
}

function messageOf(event: NotifyEvent): Message {
  switch (event.word) {
    case "conversation_ended":
      return endMessage(event);
    case "alert":
      return alertMessage(event);
    default:
      return callMessage(event);
  }
}

const CALL_TITLES: { readonly [word in CallEvent["word"]]: string } = {
  held: "A call waits for approval",
  approved: "A held call was approved",
  denied: "A held call was denied",
  cancelled: "A held call was cancelled",
  expired: "A held call expired: nobody answered in time",
  refused: "A held call was approved, and a check refused it",
};

function callMessage({ word, data }: CallEvent): Message {
  const title = CALL_TITLES[word];
  const { approvalId, tool, conversationId, tenantId, agentId } = data;
  const text = data.argumentsBeginning ?? JSON.stringify(data.arguments);
  const held = "expiresAt" in data ? data : null;
  const over = "by" in data ? data : null;
  const until = held === null ? "" : ` until ${time(held.expiresAt)}`;
  return {
    line: `${title}: ${code(tool)} in conversation ${code(conversationId)}${until}`,
    title,
    fields: [
      ["Tool", tool],
      ["Conversation", conversationId],
      ["Tenant", tenantId === DEFAULT_TENANT ? null : tenantId],
      ["Agent", agentId],
      ["Answer until", held && time(held.expiresAt)],
      ["People who must approve", held && String(held.approvals)],
      ["By", over === null || over.by.length === 0 ? null : over.by.join(", ")],
      ["Reason", over?.reason ?? null],
      ["Refused by", word === "refused" ? (over?.refusal?.reason ?? null) : null],
    ],
    below: ["Arguments", text],
    hint: held && `callgate approvals show ${approvalId}`,
  };
}

const DEFAULT_TENANT = "default";

function endMessage({ data }: ConversationEvent): Message {
  const title = "A conversation was ended";
  const { conversationId, tenantId, agentId, cause, by, reason } = data;
  return {
    line: `${title}: ${code(conversationId)}`,
    title,
    fields: [
      ["Conversation", conversationId],
      ["Tenant", tenantId === DEFAULT_TENANT ? null : tenantId],
      ["Agent", agentId],
      ["By", cause === "person" ? by : "escalation: its calls were refused too often"],
      ["Reason", reason],
    ],
    below: null,
    hint: `callgate conversations reopen ${conversationId}`,
  };
}

function alertMessage({ data }: AlertEvent): Message {
  const isOver = data.resolvedAt !== null;
  const title = isOver ? "An alert is over" : `Alert (${data.severity})`;
  return {
    line: `${title}: ${code(data.message)}`,
    title,
    fields: [
      ["Conversation", data.conversationId],
      ["Tenant", data.tenantId === DEFAULT_TENANT ? null : data.tenantId],
      ["Agent", data.agentId],
      ["Tool", data.tool],
      ["Kind", data.kind],
    ],
    below: ["Message", data.message],
    hint: null,
  };
}

/** The only line end is ours: one of somebody else could look like a further field. */
function plain(value: string, most: number, name?: string): object {
  const text = `${name === undefined ? "" : `${name}\n`}${escapeHidden(value)}`;
  const isCut = text.length > most;
  return {
    type: "plain_text",
    text: isCut ? `${cutText(text, most - 1)}…` : text,
    emoji: false,
  };
}

/** As code, in which nothing is a mention; the three characters that Slack reads are escaped. */
function code(text: string): string {
  const oneLine = escapeHidden(cutText(text, WORD_MAX)).replaceAll("`", "'");
  const escaped = oneLine.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return `\`${escaped}\``;
}

function time(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
