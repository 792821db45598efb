import { describe, expect, test } from "vitest";
import { alertEvent, deriveEvents } from "../../../services/notify/derive-events.ts";
import type { NotifyEvent } from "../../../services/notify/notify-event.ts";
import { slackMessageOf } from "../../../services/notify/slack-message.ts";
import type { Alert } from "../../../services/wire/output-records.ts";
import { MINUTE, startStory } from "../../support/decider-spec.ts";
import { SAMPLE_EVENTS } from "../../support/wire/samples.ts";

type Text = { readonly type: string; readonly text: string };
type Block = {
  readonly type: string;
  readonly text?: Text;
  readonly fields?: readonly Text[];
  readonly elements?: readonly Text[];
};
type Message = { readonly text: string; readonly blocks: readonly Block[] };

const POLICY = {
  authorization: {
    tiers: [{ name: "all", pattern: "*", action: "hitl", expires_ms: 5 * MINUTE }],
  },
  tool_schemas: { pay: {} },
} as const;

const messageOf = (event: NotifyEvent | undefined): Message =>
  JSON.parse(slackMessageOf(event as NotifyEvent));

function heldMessage(args: object, conversationId = "c"): Message {
  const story = startStory(POLICY);
  story.held("pay", args as never, { conversationId });
  return messageOf(deriveEvents(story.journal)[0]);
}

const textsOf = ({ blocks }: Message): readonly Text[] =>
  blocks.flatMap(({ text, fields = [], elements = [] }) => [
    ...(text === undefined ? [] : [text]),
    ...fields,
    ...elements,
  ]);

describe("a message", () => {
  test("says what waits and how to look at it", () => {
    const message = heldMessage({ to: "bob" });
    expect(message.text).toMatch(
      /^A call waits for approval: `pay` in conversation `c` until 1970-01-01 00:15:00 UTC$/,
    );
    const texts = textsOf(message).map(({ text }) => text);
    expect(texts).toEqual(
      expect.arrayContaining([
        "Tool\npay",
        "Agent\nagent",
        'Arguments\n{"to":"bob"}',
        expect.stringMatching(/^callgate approvals show [0-9a-f]{32}$/),
      ]),
    );
  });

  test("mentions nobody, links nothing and hides nothing, whatever an agent writes", () => {
    const message = heldMessage({ a: "<!channel> <@U1> \u202e" }, "<!here>`@all`\n*By*\nann");
    expect(message.text).toContain("`&lt;!here&gt;'@all'\\u000a*By*\\u000aann`");
    const texts = textsOf(message);
    expect(texts.filter(({ type }) => type !== "plain_text")).toEqual([]);
    expect(texts.filter(({ text }) => text.split("\n").length > 2)).toEqual([]);
    expect(JSON.stringify(message)).not.toMatch(/\u202e/);
  });

  test("fits into Slack's limits", () => {
    const message = heldMessage({ a: "é".repeat(50_000) }, "c".repeat(5_000));
    for (const { type, text, fields = [] } of message.blocks) {
      expect(text?.text.length ?? 1).toBeLessThanOrEqual(type === "header" ? 150 : 3_000);
      expect(fields.length).toBeLessThanOrEqual(10);
      for (const field of fields) expect(field.text.length).toBeLessThanOrEqual(2_000);
    }
    expect(message.text.length).toBeLessThan(500);
  });

  test("says how a hold ended, and by whom", () => {
    const story = startStory(POLICY);
    story.denied(story.held("pay"), { by: "ann", reason: "no" });
    const message = messageOf(deriveEvents(story.journal)[1]);
    expect(message.text).toMatch(/^A held call was denied: `pay`/);
    const texts = textsOf(message).map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining(["By\nann", "Reason\nno"]));
  });

  test("says that a conversation ended, and what an alert is about", () => {
    const end = { ...SAMPLE_EVENTS.ruled, kind: "end", approvalId: null } as never;
    expect(messageOf(deriveEvents([end])[0]).text).toMatch(/^A conversation was ended: `/);
    const alert: Alert = {
      ...{ alertId: "a", kind: "loop", severity: "critical", tenantId: "default" },
      ...{ conversationId: "c", agentId: null, tool: "pay", reason: null, decisionId: null },
      ...{ message: "a loop", value: 1, threshold: 1, windowMs: 1, count: 1, atMs: 1 },
      resolvedAtMs: null,
    };
    expect(messageOf(alertEvent(alert)).text).toBe("Alert (critical): `a loop`");
    expect(messageOf(alertEvent({ ...alert, resolvedAtMs: 2 })).text).toBe(
      "An alert is over: `a loop`",
    );
  });
});
