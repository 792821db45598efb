// OpenTelemetry with its own SDK: spans, metrics and headers of the calls that a program proposes.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  type ContextManager,
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  type TextMapPropagator,
  trace,
} from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTelemetry } from "../../../services/adapters/opentelemetry/open-telemetry.ts";
import { composeCallgate } from "../../../services/client/compose-callgate.ts";
import { GateClient } from "../../../services/client/gate-client.ts";
import { linkToEmbedded } from "../../../services/library/embedded-link.ts";
import { openEmbedded } from "../../../services/library/open-embedded.ts";
import { openGate, SHOP_POLICY } from "../../support/open-gate.ts";

const SECRET_ORDER = "an order that no trace may hold";
const CALL = {
  conversationId: "c1",
  turn: 1,
  callId: "call-1",
  agentId: "ann",
  tool: "charge_card",
  arguments: { order: SECRET_ORDER },
};
const REMOVAL = { ...CALL, callId: "call-2", tool: "delete_order" };
const LIMITS = { recordsMax: 10, bytesMax: 1_000_000 };

const spanExporter = new InMemorySpanExporter();
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
let reader: PeriodicExportingMetricReader;

/** Keeps the active context over awaits, as the SDK for Node does. */
class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active = (): Context => this.#storage.getStore() ?? ROOT_CONTEXT;
  with: ContextManager["with"] = (active, run, self, ...args) =>
    this.#storage.run(active, () => run.call(self, ...args));
  bind: ContextManager["bind"] = (_, target) => target;
  enable = (): this => this;
  disable = (): this => this;
}

/** W3C Trace Context and baggage, as far as a test needs them. */
const propagator: TextMapPropagator = {
  inject: (active, carrier, setter) => {
    const span = trace.getSpanContext(active);
    if (span === undefined) return;
    setter.set(carrier, "traceparent", `00-${span.traceId}-${span.spanId}-01`);
    setter.set(carrier, "baggage", "user=secret");
  },
  extract: (active, carrier, getter) => {
    const value = getter.get(carrier, "traceparent");
    const [, traceId = "", spanId = ""] = String(value).split("-");
    if (value === undefined) return active;
    return trace.setSpanContext(active, { traceId, spanId, traceFlags: 1, isRemote: true });
  },
  fields: () => ["traceparent", "baggage"],
};

function register(): void {
  context.setGlobalContextManager(new AsyncContexts());
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spanExporter)] }),
  );
  reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
  });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  propagation.setGlobalPropagator(propagator);
}

async function points(name: string) {
  metricExporter.reset();
  await reader.forceFlush();
  const all = metricExporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics);
  return all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
}

afterEach(() => {
  for (const api of [context, trace, metrics, propagation]) api.disable();
  spanExporter.reset();
});

test("nothing is traced, and the API stays unloaded, where nothing is registered", async () => {
  const gate = await openGate();
  expect((await gate.propose(CALL)).outcome).toBe("allowed");
  expect(createTelemetry().begin({ ...CALL }, [])).toBeNull();
});

test("a provider that is registered after the gate was opened is used", async () => {
  const gate = await openGate();
  await gate.propose(CALL);
  register();
  await gate.propose({ ...REMOVAL });
  expect(spanExporter.getFinishedSpans()).toHaveLength(1);
  await gate.propose({ ...CALL, callId: "call-3" });
  expect(await points("callgate.decisions")).not.toEqual([]);
});

describe("a proposed call", () => {
  beforeEach(register);

  test("is a child of the request that it came with", () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const parent = [{ name: "traceparent", value: `00-${traceId}-00f067aa0ba902b7-01` }];
    const begun = createTelemetry().begin({ ...CALL }, parent);
    begun?.decided(null);
    const [span] = spanExporter.getFinishedSpans();
    expect(span?.spanContext().traceId).toBe(traceId);
    expect(begun?.headers[0]?.value).toContain(traceId);
  });

  test("is a span with the names of the call and its decision, never its arguments", async () => {
    const gate = await openGate();
    await gate.propose(CALL);
    const [span] = spanExporter.getFinishedSpans();
    expect(span?.name).toBe("callgate.decide");
    expect(span?.attributes).toEqual({
      "gen_ai.tool.name": "charge_card",
      "gen_ai.tool.call.id": "call-1",
      "gen_ai.conversation.id": "c1",
      "gen_ai.agent.id": "ann",
      "callgate.outcome": "allowed",
      "callgate.effective": "allowed",
      "callgate.policy_revision": gate.policyRevision,
    });
    expect(JSON.stringify(span?.attributes) + JSON.stringify(span?.events)).not.toContain(
      SECRET_ORDER,
    );
  });

  test("is a child of the span that the program is in, also when it is guarded", async () => {
    const gate = await openGate();
    const tools = gate.guard({ get_order: () => "fine" }, { conversationId: "c1" });
    const agent = trace.getTracer("agent").startSpan("agent");
    await context.with(trace.setSpan(context.active(), agent), () => tools.get_order());
    agent.end();
    const [decided] = spanExporter.getFinishedSpans();
    expect(decided).toMatchObject({
      name: "callgate.decide",
      parentSpanContext: { spanId: agent.spanContext().spanId },
    });
  });

  test("says why it is held or refused", async () => {
    const gate = await openGate();
    await gate.propose(REMOVAL);
    await gate.propose({ ...CALL, tool: "no_such_tool", callId: "call-3" });
    const [held, refused] = spanExporter.getFinishedSpans().map((span) => span.attributes);
    expect(held).toMatchObject({
      "callgate.outcome": "held",
      "callgate.effective": "held",
      "callgate.reason": "approval_required",
      "callgate.rule": "authorization.tiers[0]",
    });
    expect(refused).toMatchObject({
      "callgate.outcome": "refused",
      "callgate.effective": "refused",
      "callgate.reason": "unknown_tool",
    });
  });

  test("says what a check in mode `shadow` would have done", async () => {
    const gate = await openGate({ policy: { ...SHOP_POLICY, mode: "shadow" } });
    await gate.propose(REMOVAL);
    expect(spanExporter.getFinishedSpans()[0]?.attributes).toMatchObject({
      "callgate.outcome": "held",
      "callgate.effective": "allowed",
      "callgate.reason": "approval_required",
    });
  });

  test("has an error where it gets no decision", async () => {
    const gate = await openGate({ token: () => "" });
    await expect(gate.propose(CALL)).rejects.toThrow("`token` returned no text");
    const [span] = spanExporter.getFinishedSpans();
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span?.attributes).toMatchObject({ "error.type": "invalid_input" });
  });

  test("is counted and timed by its decision", async () => {
    const gate = await openGate();
    await gate.propose(CALL);
    await gate.propose({ ...CALL, conversationId: "c2" });
    await gate.close();
    await gate.propose(CALL);
    const allowed = { "callgate.outcome": "allowed", "callgate.effective": "allowed" };
    const closed = {
      "callgate.outcome": "refused",
      "callgate.effective": "refused",
      "callgate.reason": "gate_unavailable",
    };
    const counted = await points("callgate.decisions");
    expect(counted.find(({ attributes }) => "callgate.reason" in attributes)).toMatchObject({
      attributes: closed,
    });
    expect(counted.map(({ attributes }) => attributes)).toContainEqual(allowed);
    const timed = await points("callgate.decide.duration");
    const values = timed.map(({ value }) => value as { count: number; sum: number });
    expect(values.every(({ count, sum }) => count >= 1 && sum < 60)).toBe(true);
    for (const { attributes } of [...counted, ...timed]) {
      expect(Object.keys(attributes).filter((name) => name.startsWith("gen_ai."))).toEqual([]);
    }
  });

  test("carries its trace to other processes, and no baggage", async () => {
    const embedded = await openEmbedded({ policy: { document: SHOP_POLICY }, dataDir: false });
    const link = linkToEmbedded(embedded);
    const telemetry = createTelemetry();
    const client = new GateClient(link, { timeoutMs: 5_000, onLost: undefined, telemetry });
    const gate = composeCallgate(link, client);
    await gate.propose(CALL);
    const { records } = await embedded.log.read("proposals", 0, 0, LIMITS);
    await gate.close();
    const [span] = spanExporter.getFinishedSpans();
    const { traceId, spanId } = span?.spanContext() ?? { traceId: "", spanId: "" };
    expect(records[0]?.headers).toEqual([
      { name: "traceparent", value: `00-${traceId}-${spanId}-01` },
    ]);
  });

  test("is decided although a processor of the program throws", async () => {
    trace.disable();
    const onEnd = (): never => {
      throw new Error("the exporter is broken");
    };
    const broken = { onStart: onEnd, onEnd, forceFlush: async () => {}, shutdown: async () => {} };
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [broken] }));
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const gate = await openGate();
    expect((await gate.propose(CALL)).outcome).toBe("allowed");
    expect((await warned).message).toBe("OpenTelemetry threw: the exporter is broken");
  });
});
