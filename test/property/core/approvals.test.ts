// Guarantees of approvals, denials and names, for all spellings, turns, times and orders.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { HOUR, MINUTE, ofType, only, SECOND, startStory } from "../../support/decider-spec.ts";

const held = (name: string, pattern: string) =>
  ({ name, pattern, action: "hitl", expires_ms: 15 * MINUTE }) as const;

const plain = (normalizer: string) => ({ name: normalizer, arguments: [] });

const name = fc.stringMatching(/^[a-z]{1,6}$/);

describe("calls that an approval grants", () => {
  const policy: PolicyDocument = {
    authorization: { tiers: [held("soft", "none-a"), held("hard", "none-b")] },
    tool_schemas: {
      run: {
        variants: {
          argument: "name",
          rules: [
            { like: "make_*", tier: "soft" },
            { like: "move_*", tier: "soft" },
            { like: "drop_*", tier: "hard" },
          ],
        },
      },
    },
  };
  const kind = fc.constantFrom("make", "move", "drop");

  test("are of the rule that the person was asked about, and of no other rule of the tool", () => {
    fc.assert(
      fc.property(
        kind,
        name,
        fc.array(fc.tuple(kind, name), { maxLength: 8 }),
        (asked, of, calls) => {
          const story = startStory(policy);
          const hold = story.held("run", { name: `${asked}_${of}` });
          const all = { tool: "run", calls: null, reason: "all of these" };
          const events = story.when({ ...story.verdict("approve", hold), ...all });
          expect(events.map(({ type }) => type)).toEqual(["allowed", "ruled"]);
          for (const [at, [other, rest]] of calls.entries()) {
            const call = { name: `${other}_${rest}x${at}` };
            const { type } = story.proposed("run", call);
            expect(type).toBe(other === asked ? "allowed" : "held");
          }
        },
      ),
    );
  });

  test("of a command that no rule names are of that line alone", () => {
    const shell: PolicyDocument = {
      authorization: { tiers: [held("ask", "shell")] },
      tool_schemas: { shell: { commands: { unclear: "ask", rules: [] } } },
    };
    const start = fc.constantFrom("rm -rf", "curl -o out", "frob", 'x "$(y)"', "npm run");
    const one = fc.tuple(start, name).map(([program, of]) => `${program} ${of}`);
    const line = fc.array(one, { minLength: 1, maxLength: 2 }).map((ones) => ones.join("; "));
    fc.assert(
      fc.property(line, line, fc.constantFrom(null, 3), (asked, other, calls) => {
        const story = startStory(shell);
        const hold = story.held("shell", { command: asked });
        const all = { tool: "shell", calls, reason: "all of these" };
        const events = story.when({ ...story.verdict("approve", hold), ...all });
        expect(events.map(({ type }) => type)).toEqual(["allowed", "ruled"]);
        if (asked !== other) story.held("shell", { command: other });
        story.reported(ofType(events[0] as never, "allowed"), { output: "done" });
        story.after(HOUR).turn("2").allowed("shell", { command: asked });
      }),
    );
  });

  test("are described with their rule, and with the rules that they exclude", () => {
    const story = startStory(policy);
    const { scope } = story.held("run", { name: "drop_it" });
    expect(scope).toEqual({ of: "hard", notOf: ["soft"] });
    expect(story.held("run", { name: "make_it" }).scope).toEqual({
      of: "soft (rule 1)",
      notOf: ["soft (rule 2)", "hard"],
    });
  });

  test("end once the tool is revoked", () => {
    const story = startStory(policy);
    const hold = story.held("run", { name: "make_a" });
    story.when({ ...story.verdict("approve", hold), tool: "run", calls: null });
    story.said({ kind: "revoke", tool: "run" });
    story.held("run", { name: "make_b" });
  });
});

describe("a denial", () => {
  const policy: PolicyDocument = {
    authorization: { tiers: [held("filings", "submit_*")] },
    tool_schemas: {
      submit_it: {
        normalizers: { quarter: [plain("trim"), plain("to_upper")] },
        effects: [{ resource: "filing/{quarter}", kind: "send" }],
      },
      // Needs approval only where it is large.
      pay: {
        effects: [{ resource: "order/{order}/payment", kind: "update" }],
        variants: { argument: "size", rules: [{ equals: ["large"], tier: "filings" }] },
      },
    },
  };
  const spelled = fc.constantFrom("26q2", " 26Q2", "26q2 ", "26Q2");

  test("of an action is final for the turn, in any spelling, and a repeat climbs the escalation levels", () => {
    fc.assert(
      fc.property(spelled, fc.array(spelled, { minLength: 4, maxLength: 8 }), (first, again) => {
        const story = startStory(policy).turn("1");
        story.denied(story.held("submit_it", { quarter: first }), { reason: "not now" });
        const levels = again.map((quarter) => {
          const { refusal } = story.after(SECOND).refused("submit_it", { quarter });
          if (refusal.reason === "approval_denied") expect(refusal.message).toContain('"not now"');
          else expect(refusal.reason).toBe("user_input_required");
          return refusal.level;
        });
        expect(levels.slice(0, 4)).toEqual([1, 2, 2, 3]);
      }),
    );
  });

  test("is shown to the approver of the same action in a new turn, until it expires", () => {
    fc.assert(
      fc.property(spelled, spelled, fc.boolean(), (first, second, isOver) => {
        const story = startStory(policy).turn("1");
        story.denied(story.held("submit_it", { quarter: first }), { reason: "not now" });
        story.after(isOver ? 15 * MINUTE : MINUTE).turn("2");
        const { message } = story.held("submit_it", { quarter: second });
        expect(message.includes("denied a moment ago")).toBe(!isOver);
      }),
    );
  });

  test("holds another form of the action, even where its tier allows it", () => {
    const story = startStory(policy).turn("1");
    story.denied(story.held("pay", { order: 7, size: "large" }), { reason: "no" });
    expect(story.held("pay", { order: 7, size: "small" }).message).toContain("denied a moment ago");
    story.allowed("pay", { order: 8, size: "small" });
    story.turn("2").allowed("pay", { order: 7, size: "tiny" });
  });

  test("does not exist where the call was withdrawn", () => {
    const story = startStory(policy).turn("1");
    const hold = story.held("submit_it", { quarter: "26Q2" });
    story.when(story.verdict("cancel", hold));
    story.held("submit_it", { quarter: "26Q2" });
  });
});

describe("a call name", () => {
  test("keeps its decision however late it is used again", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("send", "look", "nobody"),
        fc.integer({ min: 0, max: 40 }),
        (tool, hours) => {
          const story = startStory({
            conversation: { idle_ms: 48 * HOUR, max_age_ms: 96 * HOUR },
            tool_schemas: { send: {}, look: { read_only: true } },
          });
          const proposal = story.proposal(tool, { n: 1 });
          const decision = only(story.when(proposal));
          story.after(hours * HOUR).proposed("send", { n: 2 });
          expect(only(story.when(proposal))).toMatchObject({ type: "repeated", decision });
        },
      ),
    );
  });
});

describe("a refusal before the checks", () => {
  const policy: PolicyDocument = {
    authorization: {
      tiers: [
        { name: "never", pattern: "drop_*", action: "deny" },
        { name: "rest", pattern: "make_*", action: "allowlist" },
      ],
    },
    kill: { tools: ["make_war"] },
    tool_schemas: {
      make_it: { read_only: false, input_schema: { type: "object", required: ["start"] } },
    },
  };
  const bad = fc.constantFrom(
    ["make_it", "{}", "invalid_arguments"],
    ["nobody", "{}", "unknown_tool"],
    ["drop_it", "{}", "tier_denied"],
    ["make_war", "{}", "killed"],
    ["make_it", "{", "malformed"],
  );

  test("climbs the escalation levels by tool and reason", () => {
    fc.assert(
      fc.property(bad, ([tool = "", text = "", reason]) => {
        const story = startStory(policy).turn("1");
        const refusals = [1, 2, 3, 4].map((n) => {
          const input = { ...story.proposal(tool, {}, { callId: `c${n}` }), arguments: text };
          return ofType(only(story.when(input)), "refused").refusal;
        });
        expect(refusals.map((one) => one.reason)).toEqual([reason, reason, reason, reason]);
        expect(refusals.map(({ level }) => level)).toEqual([1, 2, 2, 3]);
        expect(story.refused("make_it", { start: 1 }).refusal.reason).toBe("user_input_required");
      }),
    );
  });

  test("uses up the calls of a budget, which then refuses it", () => {
    fc.assert(
      fc.property(fc.array(bad, { minLength: 6, maxLength: 6 }), (all) => {
        const story = startStory({
          ...policy,
          escalation: { user_input: "off" },
          budgets: { max_tool_calls: 5 },
        });
        const reasons = all.map(([tool = "", text = ""], n) => {
          const input = { ...story.proposal(tool, { n }, { callId: `c${n}` }), arguments: text };
          return ofType(only(story.when(input)), "refused").refusal.reason;
        });
        expect(reasons.slice(0, 5)).toEqual(all.slice(0, 5).map(([, , reason]) => reason));
        expect(["budget_calls", "killed"]).toContain(reasons[5]);
        expect(story.reason("make_it", { start: 1 })).toBe("budget_calls");
      }),
    );
  });
});

describe("an approved call", () => {
  const policy: PolicyDocument = {
    authorization: { tiers: [held("mail", "send_*")] },
    tool_schemas: { send_mail: {} },
  };
  const position = fc.record({ turn: fc.option(name), step: fc.option(name) });

  test("runs when it is proposed again by its call id or its approval id, in any turn and step", () => {
    fc.assert(
      fc.property(position, position, fc.boolean(), fc.boolean(), (at, later, byId, isApproved) => {
        const story = startStory(policy);
        const hold = story.held("send_mail", { to: "ann" }, { ...at, callId: "m1" });
        const decision = isApproved ? ofType(story.approved(hold), "allowed") : hold;
        const again = byId ? { callId: "m1" } : { callId: "other", approvalId: hold.holdId };
        const event = story.proposed("send_mail", { to: "ann" }, { ...later, ...again });
        expect(event).toMatchObject({ type: "repeated", decision });
      }),
    );
  });

  test("is another call with other arguments, and once it has started", () => {
    const story = startStory(policy).turn("1");
    const hold = story.held("send_mail", { to: "ann" }, { callId: "m1", step: "1" });
    const call = ofType(story.approved(hold), "allowed");
    const later = { callId: "m1", step: "2", approvalId: hold.holdId };
    story.held("send_mail", { to: "bob" }, later);
    story.reported(call, { status: "started", output: null });
    const anew = { ...later, step: "3" };
    expect(story.reason("send_mail", { to: "ann" }, anew)).toBe("duplicate_in_flight");
    story.reported(call, { output: "sent" });
    expect(story.reason("send_mail", { to: "ann" }, { ...later, step: "4" })).toBe(
      "duplicate_call",
    );
  });
});
