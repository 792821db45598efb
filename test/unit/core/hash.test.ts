import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  actionDigest,
  approvalIdOf,
  type CallName,
  chainHash,
  decisionIdOf,
  idempotencyKey,
  rawDigest,
  sha256Hex,
} from "../../../services/core/hash.ts";

const name: CallName = {
  tenantId: "default",
  conversationId: "conv-1",
  turn: "1",
  step: "2",
  callId: "call_0",
};

const execution = {
  tenantId: "default",
  conversationId: "conv-1",
  tool: "charge_card",
  identity: '{"order_id":"A1"}',
  decisionId: "0123456789abcdef0123456789abcdef",
};

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Spells out every digest: SHA-256 of the frame's UTF-8 bytes. */
function sha256(frame: string | Uint8Array): string {
  return createHash("sha256").update(frame).digest("hex");
}

describe("digests are SHA-256 of a frame that anyone can write", () => {
  it.each([
    ["sha256Hex", sha256Hex("tag/1", "a", 'b"'), 'tag/1\n["a","b\\""]'],
    ["actionDigest", actionDigest("send", '{"a":1}'), 'callgate.action/1\n"send"\n{"a":1}'],
    [
      "decisionIdOf",
      decisionIdOf({ ...name, step: null }, "send", "ab"),
      'callgate.decision/1\n["default","conv-1","1",null,"call_0","send"]\nab',
    ],
    [
      "approvalIdOf",
      approvalIdOf("ab", 'the "rule"', 2),
      'callgate.approval/1\n["ab","the \\"rule\\"","2"]',
    ],
    ["rawDigest", rawDigest("send", "{"), 'callgate.raw/1\n["send","{"]'],
    ["chainHash", chainHash("00ff", "record"), 'callgate.chain/1\n["00ff","record"]'],
  ])("%s", (_name, digest, frame) => {
    expect(digest).toBe(sha256(frame).slice(0, digest.length));
    expect(digest).toMatch(/^([0-9a-f]{32}){1,2}$/);
  });

  it("with bytes, whose length is in the frame and which follow it in order", () => {
    const frame = Buffer.concat([Buffer.from('tag/1\n[2,"x",1]\n'), Buffer.from([1, 2, 3])]);
    const expected = createHash("sha256").update(frame).digest("hex");
    expect(sha256Hex("tag/1", bytes(1, 2), "x", bytes(3))).toBe(expected);
  });
});

describe("the hashed text", () => {
  const texts = [
    "",
    "plain",
    'quotes " and \\ and \n',
    "\u0000\t\u001f",
    "\u007f",
    "é",
    "\ud800",
    "x".repeat(9_000),
    '"'.repeat(8_150),
    '"'.repeat(8_200),
    "é".repeat(20_000),
  ];

  it("consists of the tag and the parts as JSON, whatever they are and however long", () => {
    for (const one of texts) {
      for (const other of texts) {
        const frame = `tag/1\n${JSON.stringify([one, other])}`;
        expect(sha256Hex("tag/1", one, other)).toBe(sha256(frame));
      }
    }
  });

  it("consists of the tool as JSON and the canonical text, for an action", () => {
    for (const text of texts) {
      const frame = `callgate.action/1\n${JSON.stringify(text)}\n${text}`;
      expect(actionDigest(text, text)).toBe(sha256(frame));
    }
  });

  it("consists of a call's name, tool and digest, for a decision", () => {
    for (const text of texts) {
      const parts = ["default", text, null, "2", text, "tool"];
      const frame = `callgate.decision/1\n${JSON.stringify(parts)}\n${text}`;
      const callName = { ...name, conversationId: text, turn: null, callId: text };
      expect(decisionIdOf(callName, "tool", text)).toBe(sha256(frame).slice(0, 32));
    }
  });

  it("is followed by the bytes, whose length is in their place", () => {
    for (const text of texts) {
      for (const length of [0, 1, 5_000, 16_000, 16_384, 50_000]) {
        const content = Uint8Array.from({ length }, (_, at) => at * 7);
        const frame = Buffer.from(`tag/1\n[${JSON.stringify(text)},${length},${length}]\n`);
        const expected = sha256(Buffer.concat([frame, content, content]));
        expect(sha256Hex("tag/1", text, content, content)).toBe(expected);
      }
    }
  });
});

describe("golden values, which stored data depends on,", () => {
  it("do not change", () => {
    expect({
      sha256Hex: sha256Hex("tag/1", "a", "b"),
      actionDigest: actionDigest("create_invoice", '{"amount":1,"to":"\u00e9"}'),
      rawDigest: rawDigest("create_invoice", bytes(0xff)),
      decisionIdOf: decisionIdOf(name, "create_invoice", "digest"),
      decisionIdWithoutTurn: decisionIdOf(
        { ...name, turn: null, step: null },
        "create_invoice",
        "digest",
      ),
      approvalIdOf: approvalIdOf("0123456789abcdef0123456789abcdef", "rule", 1),
      idempotencyKey: idempotencyKey("secret", execution),
      chainHash: chainHash("00", bytes(1, 2, 3)),
    }).toMatchInlineSnapshot(`
      {
        "actionDigest": "94440e8ba2eb3c00b16dc52e63f70fa959e027bfcba48bcd3e815399dad86d80",
        "approvalIdOf": "fdc72e3c294825baa122ce6eca79d19d",
        "chainHash": "74d0902cef61b0b1cc12565148b38ddda54e9982b845702edeacd0c1f76ab203",
        "decisionIdOf": "00404a56d60108d8ecee1d982d70f622",
        "decisionIdWithoutTurn": "8671c5efc3753e829bd0d22933b0556b",
        "idempotencyKey": "surWdbrPIhma9NQXU6R8GSRDTKnv587rvich51_uQBk",
        "rawDigest": "ff2896f6c8ff7cbc62e34e9eb0adf90be4ee789bd8df46afeab61aaff03e61ad",
        "sha256Hex": "600f37d779730dc2010baf97138c8816a4f54d45a4a553cab2814e404fa7823d",
      }
    `);
  });
});

describe("no two lists of parts have one digest", () => {
  it("whatever the parts are", () => {
    const lists: readonly (readonly (string | Uint8Array)[])[] = [
      [],
      [""],
      ["", ""],
      ["ab"],
      ["a", "b"],
      ['a","b'],
      ["a,b"],
      ['["a","b"]'],
      ["a\u0000b"],
      ["null"],
      ["1"],
      [bytes(0)],
      [bytes(0, 0)],
      [bytes(0), bytes(0)],
      ["\u0000"],
      ["1", bytes(0)],
      [bytes(0x22), "1"],
      ["\ud800"],
      ["\udfff"],
      ["\ufffd"],
      ["\\ud800"],
    ];
    const digests = lists.map((parts) => sha256Hex("tag/1", ...parts));
    expect(new Set(digests).size).toBe(lists.length);
  });

  it("although plain hashing of a string makes all lone surrogates equal", () => {
    const plain = ["\ud800", "\udfff", "\ufffd"].map((text) =>
      createHash("sha256").update(text).digest("hex"),
    );
    expect(new Set(plain).size).toBe(1);
    const tools = ["\ud800", "\udfff", "\ufffd"].map((tool) => actionDigest(tool, "{}"));
    expect(new Set(tools).size).toBe(3);
  });

  it("and neither do two uses of one list", () => {
    const uses = ["a/1", "b/1"].map((tag) => sha256Hex(tag, "x"));
    expect(new Set([...uses, rawDigest("t", "{}"), actionDigest("t", "{}")]).size).toBe(4);
  });

  it("and neither do tool and arguments that are split elsewhere", () => {
    expect(actionDigest('a"\n{}', "{}")).not.toBe(actionDigest("a", '{}"\n{}'));
  });
});

describe("decisionIdOf", () => {
  it("is 128 bits in hex, and depends on every part of the name, the tool and the digest", () => {
    const base = decisionIdOf(name, "send", "d");
    const others = [
      decisionIdOf({ ...name, tenantId: "other" }, "send", "d"),
      decisionIdOf({ ...name, conversationId: "other" }, "send", "d"),
      decisionIdOf({ ...name, turn: "other" }, "send", "d"),
      decisionIdOf({ ...name, step: "other" }, "send", "d"),
      decisionIdOf({ ...name, callId: "other" }, "send", "d"),
      decisionIdOf(name, "other", "d"),
      decisionIdOf(name, "send", "other"),
    ];
    expect(base).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set([base, ...others]).size).toBe(8);
  });

  it("counts null as a value of its own", () => {
    const turns = [null, "", "null"].map((turn) => decisionIdOf({ ...name, turn }, "send", "d"));
    const steps = [null, "", "null"].map((step) => decisionIdOf({ ...name, step }, "send", "d"));
    expect(new Set([...turns, ...steps]).size).toBe(6);
  });
});

describe("approvalIdOf", () => {
  it("depends on the decision, the rule and the number of the hold", () => {
    const ids = [
      approvalIdOf("a", "rule", 1),
      approvalIdOf("b", "rule", 1),
      approvalIdOf("a", "other", 1),
      approvalIdOf("a", "rule", 2),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe("idempotencyKey", () => {
  it("is the HMAC-SHA-256 of its frame, for any length of the secret", () => {
    const frame =
      'callgate.key/1\n["default","conv-1","charge_card","{\\"order_id\\":\\"A1\\"}","0123456789abcdef0123456789abcdef"]';
    for (const length of [0, 1, 32, 63, 64, 65, 200]) {
      const secret = Uint8Array.from({ length }, (_, at) => at * 7 + length);
      const expected = createHmac("sha256", secret).update(frame).digest("base64url");
      expect(idempotencyKey(secret, execution)).toBe(expected);
      expect(expected).toMatch(/^[A-Za-z0-9_-]{43}$/);
    }
  });

  it("depends on the secret and every part", () => {
    const keys = [
      idempotencyKey("secret", execution),
      idempotencyKey("other", execution),
      ...(["tenantId", "conversationId", "tool", "identity", "decisionId"] as const).map((field) =>
        idempotencyKey("secret", { ...execution, [field]: "other" }),
      ),
    ];
    expect(new Set(keys).size).toBe(7);
  });
});
