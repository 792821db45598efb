import { describe, expect, it } from "vitest";
import {
  conversationName,
  parseConversation,
} from "../../../../services/cli/conversations/conversation-name.ts";

const examples = [
  [{ tenantId: "default", conversationId: "c9" }, "c9"],
  [{ tenantId: "acme", conversationId: "7" }, "acme/7"],
  [{ tenantId: "default", conversationId: "team/42" }, "default/team/42"],
  [{ tenantId: "acme", conversationId: "/" }, "acme//"],
  [{ tenantId: "müller", conversationId: "会話 7" }, "müller/会話 7"],
] as const;

describe("the name of a conversation", () => {
  it.each(examples)("is printed for %j so that it can be read back", (conversation, name) => {
    expect(conversationName(conversation)).toBe(name);
    expect(parseConversation(name)).toEqual(conversation);
  });

  it.each([
    ["", "`conversationId` must be 1 to 256"],
    ["c9/", "`conversationId` must be 1 to 256"],
    ["/c9", "`tenantId` must be 1 to 256"],
    ["c".repeat(100_000), "`conversationId` must be 1 to 256"],
    ["ce\u0301", "UTF-8 in NFC"],
  ])("is refused if no conversation can have it (%#)", (name, problem) => {
    expect(() => parseConversation(name)).toThrow(problem);
    expect(() => parseConversation(name)).toThrow(/^.{0,200}$/);
  });
});
