// Random histories of one conversation. An act refers to calls by distance ("the last call but
// one"), so that it stays meaningful when fast-check removes acts before it.
import fc from "fast-check";
import type { CallHeld, DecisionEvent, GateEvent } from "../../../services/core/events.ts";
import type {
  CallError,
  FailureEffect,
  GateInput,
  Money,
  ProposalInput,
  ResultInput,
  ResultStatus,
  StatusBasis,
  VerdictInput,
  VerdictSubject,
} from "../../../services/core/inputs.ts";

type Shift = "same" | "next" | "back" | "none";

interface Propose {
  readonly act: "propose";
  readonly tool: number;
  readonly args: number;
  readonly turn: Shift;
  readonly step: Shift;
  readonly oldId: boolean;
  readonly confirmation: string | null;
  readonly cost: Money | null;
  readonly said: string | null;
  /** The result that comes at once, if any does. */
  readonly reply: Reply | null;
}

interface Reply {
  readonly status: ResultStatus;
  readonly effect?: FailureEffect | null;
  readonly basis?: StatusBasis;
  readonly output: string | null;
  readonly error: CallError | null;
  readonly cost: Money | null;
}

interface Report extends Reply {
  readonly act: "report";
  readonly back: number;
  readonly skewMs: number;
  readonly wrong: "none" | "call" | "decision";
}

type Rule =
  | {
      readonly act: "rule";
      readonly kind: "approve" | "deny" | "cancel";
      /** Grants that many further calls of the tool with the approval. */
      readonly calls: number | null;
      readonly back: number;
      readonly skewMs: number;
      readonly by: string;
      readonly reason: string | null;
      /** The subject that the verdict names: none, the hold, or one that differs in one member. */
      readonly seen: "nothing" | "hold" | keyof VerdictSubject;
    }
  | {
      readonly act: "govern";
      readonly kind: "grant" | "revoke" | "resume" | "end";
      /** A tier, or the number of one of the tools. */
      readonly what: string | number;
      readonly calls: number | null;
      readonly forMs: number | null;
    }
  | {
      readonly act: "reconcile";
      readonly back: number;
      readonly outcome: "succeeded" | "failed" | "not_executed";
    };

export type Act =
  | Propose
  | Report
  | Rule
  | { readonly act: "redeliver"; readonly back: number; readonly changed: boolean }
  | { readonly act: "wait"; readonly ms: number }
  | { readonly act: "tick" };

export const ARGUMENTS = [
  '{"id":"1"}',
  '{"id":"1"}',
  '{"id":"2"}',
  '{ "id": "\\u0031" }',
  "{}",
  '{"id":7}',
];
const ODD_ARGUMENTS = ["[1]", "{", '{"id":1,"id":2}'];

const shift = (same: number): fc.Arbitrary<Shift> =>
  fc.oneof(
    { weight: same, arbitrary: fc.constant<Shift>("same") },
    { weight: 3, arbitrary: fc.constant<Shift>("next") },
    { weight: 1, arbitrary: fc.constantFrom<Shift>("back", "none") },
  );

const output = fc.constantFrom(
  '{"a":1,"ms":3}',
  '{"a":1,"ms":4}',
  '{"id":"1"}',
  '{"id":"2"}',
  "b",
  "b",
  "c",
  "done in 3 ms",
  "done in 4 ms",
  null,
);
const error = fc.constantFrom<CallError>(
  { code: "E1", message: "no such thing", retryable: null },
  { code: "E2", message: "broken", retryable: false },
  { code: "E2", message: "broken after 5 ms", retryable: false },
  { code: "E2", message: "broken after 6 ms", retryable: false },
  { code: "503", message: "busy", retryable: null },
  { code: null, message: "later", retryable: true },
);

const money = fc.oneof(
  { weight: 12, arbitrary: fc.constant(null) },
  {
    weight: 5,
    arbitrary: fc.constantFrom(0, 1, 400_000, 600_000, 1_000_000).map((microUnits) => ({
      microUnits,
      currency: "USD",
    })),
  },
  { weight: 1, arbitrary: fc.constant({ microUnits: 10, currency: "EUR" }) },
);

const free: fc.Arbitrary<Reply> = fc.oneof(
  {
    weight: 8,
    arbitrary: output.map(
      (text) => ({ status: "succeeded", output: text, error: null, cost: null }) as const,
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom("Error: 503 try again", "Error: no", "Sorry, none", '{"isError":true}'),
        fc.constantFrom<StatusBasis>("text", "text", "returned", "reported"),
      )
      .map(
        ([text, basis]) =>
          ({ status: "succeeded", output: text, error: null, cost: null, basis }) as const,
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(error, fc.constantFrom<FailureEffect | null>(null, "none", "none", "possible"))
      .map(
        ([what, effect]) =>
          ({ status: "failed", output: null, error: what, cost: null, effect }) as const,
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<ResultStatus>("started", "not_executed", "unknown")
      .map((status) => ({ status, output: null, error: null, cost: null })),
  },
);

const reply: fc.Arbitrary<Reply> = fc.tuple(free, money).map(([what, cost]) => ({ ...what, cost }));

const back = fc.nat(5);
/** Results and verdicts come on logs of their own, whose times are ahead or behind. */
const skew = fc.constantFrom(0, 0, 0, -2_000, 2_000);

const propose: fc.Arbitrary<Propose> = fc.record({
  act: fc.constant("propose"),
  tool: fc.nat(7),
  args: fc.oneof(
    { weight: 30, arbitrary: fc.nat(ARGUMENTS.length - 1) },
    { weight: 1, arbitrary: fc.nat(ODD_ARGUMENTS.length - 1).map((at) => ARGUMENTS.length + at) },
  ),
  turn: shift(30),
  step: shift(2),
  oldId: fc.nat(40).map((n) => n === 0),
  confirmation: fc.oneof(
    { weight: 12, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom("yes-1", "yes-2", "yes-3") },
  ),
  cost: money,
  said: fc.constantFrom(null, null, "Let me try it again", "Instead, I will look first"),
  reply: fc.option(reply, { freq: 4 }),
});

/** The same few calls again and again, which reach loops and escalation levels. */
const rounds: fc.Arbitrary<Act[]> = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(7), fc.nat(ARGUMENTS.length - 1), reply), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.integer({ min: 2, max: 5 }),
  )
  .map(([calls, times]) =>
    Array.from({ length: times }).flatMap(() =>
      calls.map(
        ([tool, args, answer]): Propose => ({
          act: "propose",
          tool,
          args,
          turn: "same",
          step: "next",
          oldId: false,
          confirmation: null,
          cost: null,
          said: null,
          reply: answer,
        }),
      ),
    ),
  );

const WAITS = [
  1, 500, 1_000, 10_000, 29_999, 30_000, 60_000, 119_999, 300_000, 900_000, 3_600_000, 86_400_000,
];

const single: fc.Arbitrary<Act> = fc.oneof(
  { weight: 24, arbitrary: propose },
  {
    weight: 6,
    arbitrary: fc
      .tuple(reply, back, skew, fc.constantFrom("none", "none", "none", "none", "call", "decision"))
      .map(
        ([what, at, skewMs, wrong]) =>
          ({ act: "report", back: at, skewMs, wrong, ...what }) as Report,
      ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("rule" as const),
      kind: fc.constantFrom("approve", "approve", "approve", "deny", "cancel"),
      calls: fc.oneof(
        { weight: 6, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.nat(2) },
      ),
      back,
      skewMs: skew,
      by: fc.constantFrom("boss", "boss", "Boss ", "chief", "agent-1", "AGENT-1"),
      reason: fc.constantFrom("because", "because", null),
      seen: fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom("nothing" as const, "hold" as const) },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            "callId" as const,
            "actionKey" as const,
            "ruleDigest" as const,
          ),
        },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("reconcile" as const),
      back,
      outcome: fc.constantFrom("succeeded" as const, "failed" as const, "not_executed" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("govern" as const),
      kind: fc.constantFrom("grant", "grant", "grant", "revoke", "resume", "resume", "end"),
      what: fc.oneof(fc.nat(7), fc.constantFrom("few", "more", "ask", "given", "nothing")),
      calls: fc.constantFrom(null, 0, 1, 2),
      forMs: fc.constantFrom(null, null, 0, 30_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("redeliver" as const),
      back,
      changed: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.nat(WAITS.length * 2).map((n) => ({
      act: "wait" as const,
      ms: WAITS[n < WAITS.length ? n : n % 7] as number,
    })),
  },
  { weight: 2, arbitrary: fc.constant({ act: "tick" as const }) },
);

export const acts: fc.Arbitrary<Act[]> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: single.map((one) => [one]) },
      { weight: 1, arbitrary: rounds },
    ),
    {
      minLength: 3,
      maxLength: 45,
    },
  )
  .map((all) => all.flat());

/** Turns acts into inputs, from the engine's answers so far. */
export class Actor {
  readonly #tools: readonly string[];
  readonly #arguments: readonly string[];
  readonly #sent: ProposalInput[] = [];
  readonly #decided: DecisionEvent[] = [];
  readonly #approvals: string[] = [];
  #turn = 1;
  #step = 1;
  #nowMs = 1_000_000;
  /** Time of the latest input. */
  atMs = 0;

  /** `given`: what calls are about, in place of the usual. */
  constructor(tools: readonly string[], argumentTexts: readonly string[] = ARGUMENTS) {
    this.#tools = tools;
    this.#arguments = [...argumentTexts, ...ODD_ARGUMENTS];
  }

  /** The inputs of one act; the engine must answer each before the next is taken. */
  *inputs(act: Act): Generator<GateInput> {
    this.atMs = this.#nowMs + ("skewMs" in act ? act.skewMs : 0);
    switch (act.act) {
      case "propose": {
        const proposal = this.#propose(act);
        yield proposal;
        const last = this.#decided.at(-1);
        if (
          act.reply !== null &&
          last?.type === "allowed" &&
          last.call.callId === proposal.callId
        ) {
          yield this.#report(last, act.reply);
        }
        return;
      }
      case "redeliver":
        yield* this.#redeliver(act);
        return;
      case "report": {
        const call = this.#decided.at(-1 - act.back);
        if (call === undefined) return;
        const input = this.#report(call, act);
        if (act.wrong === "none") yield input;
        else if (act.wrong === "call") yield { ...input, callId: "nobody" };
        else yield { ...input, decisionId: "0".repeat(32) };
        return;
      }
      case "govern":
        yield this.#govern(act);
        return;
      case "rule":
        yield this.#rule(act);
        return;
      case "reconcile":
        yield verdict({
          kind: "reconcile",
          decisionId: this.#decided.at(-1 - act.back)?.decisionId ?? "none",
          outcome: act.outcome,
        });
        return;
      case "wait":
        this.#nowMs += act.ms;
        return;
      case "tick":
        yield { type: "tick" };
    }
  }

  /** Records a decision, which later acts refer to. */
  note(events: readonly GateEvent[]): void {
    for (const event of events) {
      if (event.type !== "allowed" && event.type !== "refused" && event.type !== "held") continue;
      this.#decided.push(event);
      if (event.type === "held") this.#approvals.push(event.holdId);
    }
  }

  #propose(act: Propose): ProposalInput {
    if (act.turn === "next") this.#turn += 1;
    if (act.step === "next" || act.turn === "next") this.#step += 1;
    const tool = this.#tools[act.tool % this.#tools.length] as string;
    const old = act.oldId ? this.#sent.at(-1) : undefined;
    const proposal: ProposalInput = {
      type: "proposal",
      tenantId: "tenant",
      conversationId: "conversation",
      callId: old?.callId ?? `call-${this.#sent.length}`,
      agentId: "agent-1",
      turn: act.turn === "none" ? null : String(this.#turn - (act.turn === "back" ? 1 : 0)),
      step: act.step === "none" ? null : `s${this.#step - (act.step === "back" ? 1 : 0)}`,
      tool,
      arguments: this.#arguments[act.args] as string,
      assistantText: act.said,
      estimatedCost: act.cost,
      confirmation: act.confirmation,
      rejected: null,
    };
    this.#sent.push(proposal);
    return proposal;
  }

  #rule({ kind, back: at, by, reason, calls, seen }: Extract<Act, { by: string }>): VerdictInput {
    const approvalId = this.#approvals.at(-1 - at) ?? "none";
    const held = this.#decided.find((call) => call.type === "held" && call.holdId === approvalId);
    const tool = calls === null ? null : (held?.call.tool ?? "none");
    const about = held?.type === "held" ? aboutOf(held, seen) : {};
    return verdict({ kind, approvalId, by, reason, tool, calls, ...about });
  }

  #govern({ kind, what, calls, forMs }: Extract<Act, { act: "govern" }>): VerdictInput {
    const tool = typeof what === "number" ? (this.#tools[what % this.#tools.length] ?? null) : null;
    return verdict({
      kind,
      tier: typeof what === "string" ? what : null,
      tool,
      calls,
      untilMs: forMs === null ? null : this.#nowMs + forMs,
    });
  }

  *#redeliver(act: { readonly back: number; readonly changed: boolean }): Generator<GateInput> {
    const old = this.#sent.at(-1 - act.back);
    if (old === undefined) return;
    yield act.changed ? { ...old, arguments: '{"id":"changed"}' } : old;
  }

  #report(call: DecisionEvent, reply: Reply): ResultInput {
    const { status, output: text, error: what, cost, effect, basis } = reply;
    return {
      type: "result",
      tenantId: call.tenantId,
      conversationId: call.conversationId,
      callId: call.call.callId,
      decisionId: call.decisionId,
      status,
      ...(effect === undefined ? {} : { effect }),
      ...(basis === undefined ? {} : { basis }),
      output: text,
      outputDigest: null,
      outputBytes: null,
      error: what,
      durationMs: null,
      cost,
    };
  }
}

function aboutOf(
  { call: { callId }, arguments: { actionKey }, ruleDigest }: CallHeld,
  seen: "nothing" | "hold" | keyof VerdictSubject,
): Pick<VerdictInput, "about"> {
  if (seen === "nothing") return {};
  const about = { callId, actionKey, ruleDigest };
  return { about: seen === "hold" ? about : { ...about, [seen]: "another" } };
}

function verdict(input: Partial<VerdictInput> & Pick<VerdictInput, "kind">): VerdictInput {
  return {
    type: "verdict",
    tenantId: "tenant",
    conversationId: "conversation",
    approvalId: null,
    decisionId: null,
    outcome: null,
    tier: null,
    tool: null,
    calls: null,
    untilMs: null,
    by: "boss",
    reason: null,
    ...input,
  };
}
