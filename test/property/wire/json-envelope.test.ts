import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_CANONICAL_LIMITS } from "../../../services/core/canonical/limits.ts";
import {
  type CanonicalResult,
  keepAhead,
  parseCanonical,
} from "../../../services/core/canonical/parse-canonical.ts";
import { type Member, readMembers } from "../../../services/core/canonical/read-members.ts";
import { decide } from "../../../services/core/decide/decide.ts";
import { readPlainEnvelope } from "../../../services/wire/json-envelope.ts";
import { decodeJsonProposal } from "../../../services/wire/proposal-json.ts";
import { compiled } from "../../support/core/compile.ts";
import { SUBJECTS } from "../../support/core/policies.ts";
import { ARGUMENTS } from "../../support/core/random-history.ts";

const RUNS = { numRuns: 2_000 };
const bytes = (text: string): Buffer => Buffer.from(text);
const isPlain = (text: string): boolean =>
  readPlainEnvelope(bytes(text), DEFAULT_CANONICAL_LIMITS) !== undefined;

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
const text = fc.oneof(
  fc.constantFrom('"t"', '"a/b"', '"\\u0041"', '"tab\\tand \\"quotes\\""', '"\u0007"', '"é"', '""'),
  fc.string().map((each) => JSON.stringify(each)),
);
const number = fc.constantFrom("0", "12", "-0", "1.0", "1e2", "1.5", "9007199254740993", "true");
const callArguments = fc.oneof(
  fc
    .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 })
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('{"b":1.50,"a":[1, 2]}', '{"a":1,"a":2}', '{"__proto__":1}', '"{\\"a\\":1}"'),
  json,
);

/** Members of an envelope: mostly as they should be, in any order, some twice. */
const member = fc.oneof(
  fc.tuple(fc.constantFrom("tenantId", "agentId", "tool", "callId", "conversationId"), text),
  fc.tuple(fc.constantFrom("turn", "step"), fc.oneof(text, number)),
  fc.tuple(fc.constantFrom("assistantText", "confirmation", "traceparent", "ceId"), text),
  fc.tuple(fc.constant("arguments"), callArguments),
  fc.tuple(
    fc.constant("estimatedCost"),
    fc.constantFrom('{"microUnits":1,"currency":"EUR"}', "null", "1"),
  ),
  fc.tuple(fc.constantFrom("tool", "turn", "callId", "arguments", "more", "\\u0061"), json),
);
const NEEDED = ['"conversationId":"c"', '"callId":"call-00000001"', '"tool":"t"'];
const envelope = fc
  .tuple(
    fc.shuffledSubarray(NEEDED, { minLength: 3 }),
    fc.array(
      member.map(([name, value]) => `"${name}":${value}`),
      { maxLength: 2 },
    ),
    fc.option(
      callArguments.map((each) => `"arguments":${each}`),
      { nil: undefined },
    ),
    fc.constantFrom(",", ", ", " ,\n"),
  )
  .map(([needed, others, given, comma]) => {
    const members = [...needed, ...others, ...(given === undefined ? [] : [given])];
    return `{${members.join(comma)}}`;
  });

/** One character replaced, left out, or put in. */
const damaged = fc
  .tuple(
    envelope,
    fc.nat(),
    fc.nat(2),
    fc.constantFrom('"', "{", "}", ",", "\\", ":", "\u0000", "x"),
  )
  .map(([whole, place, kind, character]) => {
    const at = place % whole.length;
    return `${whole.slice(0, at)}${kind === 1 ? "" : character}${whole.slice(kind === 2 ? at : at + 1)}`;
  });

describe("a JSON proposal read fast", () => {
  test("says what it says when it is read slowly", () => {
    let fast = 0;
    fc.assert(
      fc.property(fc.oneof(envelope, damaged), (each) => {
        if (!isPlain(each)) return;
        fast += 1;
        // A space behind the text is nothing to JSON, and is never read fast.
        expect(isPlain(`${each} `)).toBe(false);
        expect(decodeJsonProposal(bytes(each))).toStrictEqual(
          decodeJsonProposal(bytes(`${each} `)),
        );
      }),
      RUNS,
    );
    expect(fast).toBeGreaterThan(RUNS.numRuns / 20);
  });

  test("is most of them, with text or numbers, in any order", () => {
    const names = NEEDED.join(",");
    expect(isPlain(`{${names},"arguments":{"b":[1.0],"a":"\\n"}}`)).toBe(true);
    expect(isPlain(`{"arguments":"{}",${names},"turn":3,"step":"x","tenantId":"t"}`)).toBe(true);
    expect(isPlain(`{"arguments":{},${names},"agentId":null,"traceparent":"00"}`)).toBe(true);
    expect(isPlain(`{"arguments":{},${names},"more":1}`)).toBe(false);
    expect(isPlain(`{"arguments":{},${names},"callId":"twice"}`)).toBe(false);
    expect(isPlain(`{"arguments":{},${names},"assistantText":"\u0007"}`)).toBe(false);
    expect(isPlain(`{"arguments":{},${names},"assistantText":"é"}`)).toBe(false);
  });
});

/** The canonical text of the member that was kept; undefined where it has to be read otherwise. */
function keptAhead(text: string, name: string): string | undefined {
  const kept: string[] = [];
  const take = (into: string[], member: Member) => keepAhead(member) && into.push(member.text) > 0;
  return readMembers(text, DEFAULT_CANONICAL_LIMITS, name, kept, take) ? kept[0] : undefined;
}

/** Its value made, as a member of its own. */
function plain(read: CanonicalResult): CanonicalResult {
  if (!read.ok) return read;
  const { ok, value, text, keyCount, depth } = read;
  return { ok, value, text, keyCount, depth };
}

describe("arguments parsed ahead", () => {
  test("are judged as their text alone is, by every policy", () => {
    let read = 0;
    for (const { document, tools } of SUBJECTS) {
      const policy = compiled(document);
      const call = fc.record({
        tool: fc.constantFrom(...tools),
        given: fc.oneof(fc.constantFrom(...ARGUMENTS), callArguments),
        behind: fc.constantFrom("", ',"step":"2"'),
      });
      const law = ({ tool, given, behind }: { tool: string; given: string; behind: string }) => {
        const head = `{"conversationId":"c","callId":"call-1","tool":${JSON.stringify(tool)}`;
        const decoded = decodeJsonProposal(bytes(`${head},"arguments":${given}${behind}}`));
        if (!decoded.ok) return;
        read += 1;
        const atOnce = decide(undefined, decoded.input, policy, 0);
        // What was read ahead is handed out once: this time it is the text.
        expect(decide(undefined, decoded.input, policy, 0)).toEqual(atOnce);
      };
      fc.assert(fc.property(call, law), { numRuns: 60 });
    }
    expect(read).toBeGreaterThan(30 * SUBJECTS.length);
  });

  test("are what they are when they are parsed later, and are handed out once", () => {
    fc.assert(
      fc.property(callArguments, (given) => {
        const text = keptAhead(`{"arguments":${given}}`, "arguments");
        fc.pre(text !== undefined);
        const first = parseCanonical(text);
        // Reads another text, so that the first has to make its value without the parts it had.
        const second = parseCanonical(text);
        expect(plain(first)).toStrictEqual(second);
        expect(first).not.toBe(second);
        keptAhead(`{"arguments":${given}}`, "arguments");
        expect(plain(parseCanonical(text))).toStrictEqual(second);
      }),
      RUNS,
    );
  });

  test("are held to the limits of who asks", () => {
    for (const limit of [{ maxDepth: 1 }, { maxKeys: 1 }, { maxBytes: 5 }]) {
      expect(keptAhead('{"a":{"b":{"c":1}}}', "a")).toBe('{"b":{"c":1}}');
      const parsed = parseCanonical('{"b":{"c":1}}', { ...DEFAULT_CANONICAL_LIMITS, ...limit });
      expect(parsed).toMatchObject({ ok: false, reason: "too_large" });
    }
  });
});
