// Spellings of one value make one write; different values make different ones.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../services/core/canonical/json-value.ts";
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import { mayBeRespelled } from "../../../services/core/normalize/spelling.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { compiled } from "../../support/core/compile.ts";
import { startStory } from "../../support/decider-spec.ts";

const WRITE: PolicyDocument = { tool_schemas: { t: {} } };
const STRICT: PolicyDocument = { ...WRITE, deduplication: { spelling: "strict" } };

function identityOf(args: JsonObject, document = WRITE): string {
  const parsed = parseCanonical(JSON.stringify(args));
  if (!parsed.ok) throw new Error(parsed.message);
  const identity = compiled(document)
    .tool("t")
    .identity(parsed.value as JsonObject, parsed.text);
  if (!identity.ok) throw new Error("the arguments have no identity");
  return identity.text;
}

const WORD = fc.stringMatching(/^[A-Za-z0-9é가ß][A-Za-z0-9 .,é가ß]{0,12}[A-Za-z0-9é가ß]$/);
const BLANKS = fc.stringMatching(/^[ \t\n\u00a0\u2003]{0,3}$/);
const HIDDEN = fc.constantFrom(
  "\u200b",
  "\u200d",
  "\u00ad",
  "\ufeff",
  "\u2060",
  "\u202e",
  "\ufe0f",
);

/** Wide forms of letters and digits, which NFKC folds. */
function widen(text: string): string {
  return text.replace(/[A-Za-z0-9]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0));
}

const respelledText = fc
  .tuple(WORD, BLANKS, BLANKS, HIDDEN, fc.nat(), fc.constantFrom("NFC", "NFD", "NFKD", "wide"))
  .map(([word, before, after, hidden, offset, form]) => {
    const at = offset % (word.length + 1);
    const formed = form === "wide" ? widen(word) : word.normalize(form);
    const where = Math.min(at, formed.length);
    const isSplit = /^\p{M}/u.test(formed.slice(where));
    const inside = isSplit ? formed : formed.slice(0, where) + hidden + formed.slice(where);
    return { word, respelled: `${before}${inside}${after}` };
  });

const PARAMETERS = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/), {
  minLength: 2,
  maxLength: 5,
});

const VALUE: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    WORD,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie("value"), { maxKeys: 3 }),
  ),
})).value;

describe("one write", () => {
  test("is made by a text with blanks at its ends, hidden characters, and in any Unicode form", () => {
    fc.assert(
      fc.property(respelledText, ({ word, respelled }) => {
        expect(identityOf({ a: [respelled], b: { c: respelled } })).toBe(
          identityOf({ a: [word], b: { c: word } }),
        );
      }),
    );
  });

  test("is made by a URL with its parameters in any order", () => {
    fc.assert(
      fc.property(PARAMETERS, fc.nat(), (names, seed) => {
        const shuffled = names.toSorted(
          (a, b) => ((a.charCodeAt(0) * (seed + 7)) % 13) - ((b.charCodeAt(0) * (seed + 7)) % 13),
        );
        const url = (list: readonly string[]) =>
          `https://x.test/p?${list.map((one) => `${one}=1`).join("&")}#f`;
        expect(identityOf({ url: url(shuffled) })).toBe(identityOf({ url: url(names) }));
      }),
    );
  });

  test("is made by a list or an object that is sent as JSON text", () => {
    const container = VALUE.filter((value) => typeof value === "object" && value !== null);
    fc.assert(
      fc.property(container, fc.nat(4), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(identityOf({ a: text })).toBe(identityOf({ a: value }));
        expect(identityOf({ a: ` ${JSON.stringify({ a: text })}` })).toBe(
          identityOf({ a: { a: value } }),
        );
      }),
    );
  });

  test("keeps its identity when it is in one spelling already", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), VALUE), (args) => {
        const plain = parseCanonical(JSON.stringify(args));
        const text = plain.ok ? plain.text : "";
        if (/[^ -~]/.test(text)) return;
        expect(identityOf(args)).toBe(text);
        expect(mayBeRespelled(text)).toBe(false);
      }),
    );
  });
});

describe("two writes", () => {
  test("are made by different values", () => {
    fc.assert(
      fc.property(VALUE, VALUE, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        const same = parsedText(one) === parsedText(other);
        expect(identityOf({ a: one }) === identityOf({ a: other })).toBe(same);
      }),
    );
  });

  test("are made by texts whose white space differs inside, or whose case does", () => {
    fc.assert(
      fc.property(
        WORD,
        WORD,
        fc.constantFrom(["", " "], [" ", "  "], [" ", "\n"]),
        (a, b, [one, other]) => {
          expect(identityOf({ a: `${a}${one}${b}` })).not.toBe(
            identityOf({ a: `${a}${other}${b}` }),
          );
        },
      ),
    );
    expect(identityOf({ a: "A" })).not.toBe(identityOf({ a: "a" }));
  });

  test("are made by parameters of one name in another order, and by a number and its text", () => {
    const url = (query: string) => identityOf({ url: `https://x.test/?${query}` });
    expect(url("a=1&a=2")).not.toBe(url("a=2&a=1"));
    expect(identityOf({ a: 7 })).not.toBe(identityOf({ a: "7" }));
  });

  test("are made by spellings where the policy or the tool is strict", () => {
    const tool: PolicyDocument = { tool_schemas: { t: { spelling: "strict" } } };
    fc.assert(
      fc.property(respelledText, ({ word, respelled }) => {
        fc.pre(word !== respelled);
        for (const document of [STRICT, tool]) {
          expect(identityOf({ a: respelled }, document)).not.toBe(
            identityOf({ a: word }, document),
          );
        }
      }),
    );
  });
});

function parsedText(value: JsonValue): string {
  const parsed = parseCanonical(JSON.stringify(value));
  return parsed.ok ? parsed.text : "";
}

describe("in a conversation", () => {
  const POLICY: PolicyDocument = {
    tool_schemas: {
      refund: { effects: [{ resource: "order/{id}/refund", kind: "charge" }] },
      pay_back: { effects: [{ resource: "order/{id}/refund", kind: "custom", exclusive: true }] },
      set_note: { effects: [{ resource: "order/{id}/note", kind: "update" }] },
      get_note: { read_only: true, reads: ["order/{id}/note"] },
      open_order: { effects: [{ resource: "order/{result.id}", kind: "create" }] },
      drop_order: { effects: [{ resource: "order/{id}", kind: "delete" }] },
      put: {
        input_schema: { type: "object", properties: { text: { type: "string" } } },
      },
    },
  };

  test("a resource has one name in all spellings, by whichever tool", () => {
    const story = startStory(POLICY);
    story.done("refund", { id: "A7" });
    expect(story.reason("refund", { id: " A\u200b7" })).toBe("duplicate_call");
    expect(story.reason("pay_back", { id: "Ａ７\n" })).toBe("side_effect_conflict");
    story.done("refund", { id: "a7" });
  });

  test("a result and an argument name one thing in their own spellings", () => {
    const story = startStory(POLICY);
    story.done("open_order", { n: 1 }, JSON.stringify({ id: " o1" }));
    story.done("drop_order", { id: "o1" });
    story.done("open_order", { n: 1 }, JSON.stringify({ id: "o1" }));
  });

  test("a read is answered in its own spelling alone, and stale after a write in another", () => {
    const story = startStory(POLICY);
    story.done("get_note", { id: "A7" }, "old");
    story.done("get_note", { id: "A7 " }, "old");
    expect(story.reason("get_note", { id: "A7" })).toBe("duplicate_call");
    story.done("set_note", { id: "\u00adA7", text: "new" });
    story.done("get_note", { id: "A7" }, "new");
  });

  test("an update of a text by its white space is another call", () => {
    const story = startStory(POLICY);
    story.done("set_note", { id: "A7", text: "a" });
    story.done("set_note", { id: "A7", text: "a\n" });
  });

  test("JSON in an argument that the schema calls a text is a text", () => {
    const story = startStory(POLICY);
    story.done("put", { text: '{"a":1}' });
    expect(story.reason("put", { text: '{"a":1} ' })).toBe("duplicate_call");
    story.done("put", { text: '{ "a": 1 }' });
  });
});
