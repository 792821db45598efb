// A producer writes arguments as a JSON value in the envelope of its proposal, or as JSON text in a string. Were the
// two judged differently, an agent could choose the milder way for one call.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import { decide } from "../../../services/core/decide/decide.ts";
import type { GateEvent } from "../../../services/core/events.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { decodeJsonProposal } from "../../../services/wire/proposal-json.ts";
import { compiled } from "../../support/core/compile.ts";
import { SUBJECTS } from "../../support/core/policies.ts";
import { ARGUMENTS } from "../../support/core/random-history.ts";
import { chooser, type Spellable, spell, spellable } from "../../support/json-spellings.ts";

interface JudgedPolicy {
  readonly name: string;
  readonly document: PolicyDocument;
  readonly tools: readonly string[];
}

const TEMPLATE = new URL("../../../infra/policies/templates/coding-agent.yaml", import.meta.url);

function codingAgent(): PolicyDocument {
  const loaded = loadPolicy([{ name: "coding-agent.yaml", text: readFileSync(TEMPLATE, "utf8") }]);
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("; "));
  return loaded.document;
}

const COMMAND_POLICIES: readonly JudgedPolicy[] = [
  {
    name: "shell lines and files: the template coding-agent",
    document: codingAgent(),
    tools: ["bash", "read_file", "edit_file"],
  },
  {
    name: "statements and requests",
    document: {
      authorization: { tiers: [{ name: "ask", pattern: "delete_*", action: "hitl" }] },
      tool_schemas: {
        query: { commands: { language: "sql", argument: "command", unclear: "ask" } },
        fetch: { commands: { language: "http", unclear: "ask" } },
      },
    },
    tools: ["query", "fetch"],
  },
];

const POLICIES: readonly JudgedPolicy[] = [...SUBJECTS, ...COMMAND_POLICIES];

const text = (values: readonly string[]): fc.Arbitrary<Spellable> =>
  fc
    .oneof(fc.constantFrom(...values), fc.string({ unit: "binary", maxLength: 6 }))
    .map((each) => ({ kind: "text", text: each }));

/** Values of the arguments that the policies read, each with characters that JSON escapes. */
const MEMBERS: readonly (readonly [string, fc.Arbitrary<Spellable>])[] = [
  ["id", fc.oneof(text(["1", "2", "\u00e9"]), spellable)],
  ["text", text(["word0 word1", 'a "b"\n'])],
  ["path", text(["src/a.ts", "../b", "/etc/hosts", ".env", "src\\c"])],
  [
    "command",
    text(["git status", "npm test\ngit push", 'rm -rf "~"', "select 1", "delete from t", "\u2028"]),
  ],
  ["method", text(["GET", "DELETE"])],
  ["url", text(["https://example.com/a?b=1", "http://localhost/\u00e9"])],
];

const object: fc.Arbitrary<Spellable> = fc
  .tuple(
    ...MEMBERS.map(([key, value]) => fc.option(value.map((each) => [key, each] as const))),
    fc.option(spellable.map((each) => ["more", each] as const)),
  )
  .map((members) => ({ kind: "object", members: members.filter((each) => each !== null) }));

/** One spelling of a call's arguments. A text alone is left out: in an envelope it is already the second way. */
const spelledArguments = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...ARGUMENTS, "[1]", "7", '{"id":1,"id":2}') },
  {
    weight: 8,
    arbitrary: fc.tuple(object, fc.nat()).map(([tree, seed]) => spell(tree, chooser(seed))),
  },
);

function decideProposal(policy: CompiledPolicy, tool: string, written: string): GateEvent {
  const names = `"conversationId":"c","callId":"call-1","tool":${JSON.stringify(tool)}`;
  const decoded = decodeJsonProposal(Buffer.from(`{${names},"arguments":${written},"step":"2"}`));
  if (!decoded.ok) throw new Error(decoded.message);
  const [event] = decide(undefined, decoded.input, policy, 0);
  if (event === undefined) throw new Error("a proposal gets an event");
  return event;
}

/** What is left to compare where the text is not strict JSON: messages say where in which text. */
function verdictOn(event: GateEvent) {
  if (event.type !== "refused") return { type: event.type };
  const { reason } = event.refusal;
  return { type: event.type, reason };
}

function isMalformed(event: GateEvent): boolean {
  return event.type === "refused" && event.refusal.reason === "malformed";
}

describe("arguments as a JSON value in the envelope", () => {
  it.each(POLICIES)("are judged as their JSON text alone is, by $name", ({ document, tools }) => {
    const policy = compiled(document);
    let judged = 0;
    fc.assert(
      fc.property(fc.constantFrom(...tools), spelledArguments, (tool, spelled) => {
        const asValue = decideProposal(policy, tool, spelled);
        const asText = decideProposal(policy, tool, JSON.stringify(spelled));
        if (isMalformed(asText)) expect(verdictOn(asValue)).toEqual(verdictOn(asText));
        else {
          judged += 1;
          expect(asValue).toEqual(asText);
        }
      }),
      { numRuns: 100 },
    );
    expect(judged).toBeGreaterThan(30);
  });
});
