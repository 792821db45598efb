// Names and texts of people and models: which texts say nothing, who the speaker is, and what is
// shown of them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallRefused } from "../../../services/core/events.ts";
import {
  escapeHidden,
  hasHidden,
  hasVisible,
  quoteText,
} from "../../../services/core/hidden-text.ts";
import { shownArguments } from "../../../services/core/shown-arguments.ts";
import { isSameSpeaker, speakerProblem } from "../../../services/core/speaker.ts";
import { startStory } from "../../support/decider-spec.ts";

const unseen = fc.constantFrom(
  ..." \t\n\u00a0\u00ad\u034f\u115f\u180e\u200b\u200e\u202e\u2060\u2066\u2800\u3000\u3164\ufe0f\ufeff\u009b",
  "\u{e0001}",
  "\u{1d159}",
  "\u0301",
);
const nothing = fc.array(unseen, { maxLength: 8 }).map((parts) => parts.join(""));

describe("a reason", () => {
  const asks = {
    authorization: {
      tiers: [{ name: "asks", pattern: "*", action: "hitl", require_reason: true } as const],
    },
  };

  test("needs one visible character", () => {
    fc.assert(
      fc.property(nothing, fc.constantFrom("x", "7", "é", "語", "ж"), (reason, seen) => {
        const story = startStory(asks);
        const hold = story.held("drop");
        expect(story.approved(hold, { reason })).toMatchObject({ why: "reason_required" });
        expect(story.approved(hold, { reason: reason + seen }).type).toBe("allowed");
      }),
    );
  });
});

describe("a speaker", () => {
  const latin = fc.stringMatching(/^[a-z]{3,8}$/);
  const foreign = fc.constantFrom(
    "\u0430",
    "\u0435",
    "\u03bf",
    "\u0561",
    "\u05d0",
    "\u0627",
    "\u0966",
  );

  test("cannot have a name that mixes scripts, wherever the foreign letter is", () => {
    fc.assert(
      fc.property(latin, foreign, fc.nat(8), (name, letter, at) => {
        const mixed = name.slice(0, at % name.length) + letter + name.slice((at % name.length) + 1);
        expect(speakerProblem(mixed)).toContain("several scripts");
      }),
    );
  });

  test("cannot have a name with a hidden character, or without a visible one", () => {
    const hidden = unseen.filter((one) => hasHidden(one));
    fc.assert(
      fc.property(latin, hidden, nothing, (name, one, empty) => {
        expect(speakerProblem(name + one)).toBeDefined();
        expect(speakerProblem(empty)).toBeDefined();
      }),
    );
  });

  test("is one person in every case and form of the letters", () => {
    fc.assert(
      fc.property(latin, latin, (first, last) => {
        const wide = [...first]
          .map((one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0))
          .join("");
        expect(isSameSpeaker(`${first} ${last}`, ` ${first.toUpperCase()}  ${last} `)).toBe(true);
        expect(isSameSpeaker(first, wide)).toBe(true);
      }),
    );
  });

  test.each([
    "Zoë Müller",
    "Иван Петров",
    "Γιώργος",
    "田中 太郎",
    "たなか taro",
    "김철수 kim",
    "अनु",
    "علي",
    "ann@example.org 😀",
  ])("may have the name %s", (name) => {
    expect(speakerProblem(name)).toBeUndefined();
  });
});

const hostile = fc
  .array(fc.oneof(unseen, fc.constantFrom("`", '"', "\\", "a", "é", "\ud800", "\u001b[2J")), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));

const HALF = /\p{Cs}/u;

/** Backticks in pairs, and none next to another: quoted text cannot end the quote. */
function isBalanced(text: string): boolean {
  return text.split("`").length % 2 === 1;
}

const showRefusal = (decision: CallRefused) => ({
  ...decision.refusal,
  arguments: shownArguments(decision),
});

describe("a shown text", () => {
  test("has no hidden character and ends no quote early, whatever comes from outside", () => {
    const document = {
      tool_schemas: {
        pay: { effects: [{ resource: "order/{id}", kind: "charge" } as const] },
        bill: { effects: [{ resource: "order/{id}", kind: "charge" } as const] },
        strict: { input_schema: { type: "object", additionalProperties: false } as const },
        look: { read_only: true },
      },
      authorization: { tiers: [{ name: "asks", pattern: "ask_*", action: "hitl" } as const] },
    };
    fc.assert(
      fc.property(hostile, hostile, (text, other) => {
        fc.pre(!HALF.test(text) && hasVisible(text));
        const story = startStory(document);
        story.done("pay", { id: text }, other);
        story.done("look", { [text]: 1 }, other);
        const refusals = [
          story.refused("pay", { id: text }),
          story.refused("bill", { id: text }),
          story.refused("strict", { [text]: other.replaceAll(/\p{Cs}/gu, "?") }),
          story.refused("look", { [text]: 1 }),
          story.refused(`x${text}`),
        ].map(showRefusal);
        const hold = story.held("ask_it", { text });
        const denied = story.denied(hold, { reason: text });
        const shownRefusals =
          denied.type === "refused" ? [...refusals, showRefusal(denied)] : refusals;
        expect(shownRefusals).toHaveLength(6);
        for (const {
          message,
          note,
          userMessage,
          arguments: shown,
          problems,
          conflict,
        } of shownRefusals) {
          const texts = [
            message,
            note,
            userMessage,
            shown,
            ...problems.flatMap((one) => [one.path, one.message]),
          ];
          for (const one of [...texts, ...(conflict?.path ?? [])])
            expect(hasHidden(one ?? "")).toBe(false);
          expect(isBalanced(message) && isBalanced(note ?? "")).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("has the same meaning as before where it is read as JSON", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        expect(JSON.parse(quoteText(text))).toBe(text);
        expect(JSON.parse(escapeHidden(JSON.stringify({ [text]: [text] })))).toEqual({
          [text]: [text],
        });
        expect(hasHidden(quoteText(text))).toBe(false);
        expect(hasVisible(text) || !/[!-~]/.test(text)).toBe(true);
      }),
    );
  });
});
