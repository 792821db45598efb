import type * as Api from "@opentelemetry/api";
import type {
  Attributes,
  Context,
  Counter,
  Histogram,
  MeterProvider,
  Span,
} from "@opentelemetry/api";
import type { DecisionEvent } from "../../core/events.ts";
import type { RecordHeader } from "../../runtime/ports.ts";
import type { TracedCall } from "../../runtime/telemetry.ts";
import { ATTRIBUTES, METRICS, SCOPE, SPAN } from "./names.ts";

/** Upper bounds in seconds: from memory alone to a cluster that is slow. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

/** Headers of W3C Trace Context; others, such as baggage, may hold what others must not read. */
const TRACE_HEADERS = ["traceparent", "tracestate"];

type Instruments = { readonly decisions: Counter; readonly duration: Histogram };

/** Writes spans and metrics with the providers that are registered at the time. */
export class Recorder {
  readonly #api: typeof Api;
  #provider: MeterProvider | null = null;
  #instruments: Instruments | null = null;

  constructor(api: typeof Api) {
    this.#api = api;
  }

  /** @param parent trace headers of a request; empty: the span that is active is the parent */
  begin(call: TracedCall, parent: readonly RecordHeader[]): RecordedTrace {
    // The tracer is asked for each time: it is cheap, and a provider may come later.
    const span = this.#api.trace.getTracer(SCOPE).startSpan(SPAN, {}, this.#contextOf(parent));
    if (span.isRecording()) span.setAttributes(attributesOf(call));
    return new RecordedTrace(this.#api, span, this.#current());
  }

  #contextOf(parent: readonly RecordHeader[]): Context {
    const active = this.#api.context.active();
    if (parent.length === 0) return active;
    const carrier = Object.fromEntries(parent.map(({ name, value }) => [name, value]));
    return this.#api.propagation.extract(active, carrier);
  }

  #current(): Instruments {
    // Instruments stay with their provider, and until one is registered they do nothing.
    const provider = this.#api.metrics.getMeterProvider();
    if (this.#instruments === null || provider !== this.#provider) {
      this.#provider = provider;
      this.#instruments = createInstruments(provider);
    }
    return this.#instruments;
  }
}

export class RecordedTrace {
  readonly #api: typeof Api;
  readonly #span: Span;
  readonly #instruments: Instruments;
  readonly #beganAt = performance.now();

  constructor(api: typeof Api, span: Span, instruments: Instruments) {
    this.#api = api;
    this.#span = span;
    this.#instruments = instruments;
  }

  headers(): readonly RecordHeader[] {
    const { context, propagation, trace } = this.#api;
    const carrier: Record<string, string> = {};
    propagation.inject(trace.setSpan(context.active(), this.#span), carrier);
    return TRACE_HEADERS.flatMap((name) => {
      const value = carrier[name];
      return value === undefined ? [] : [{ name, value }];
    });
  }

  decided(event: DecisionEvent | null): void {
    const { labels, details } = event === null ? UNAVAILABLE : describe(event);
    this.#instruments.decisions.add(1, labels);
    this.#end(labels, details);
  }

  failed(code: string): void {
    this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    this.#end({ [ATTRIBUTES.error]: code }, {});
  }

  #end(labels: Attributes, details: Attributes): void {
    this.#instruments.duration.record((performance.now() - this.#beganAt) / 1_000, labels);
    if (this.#span.isRecording()) this.#span.setAttributes({ ...labels, ...details });
    this.#span.end();
  }
}

function createInstruments(provider: MeterProvider): Instruments {
  const meter = provider.getMeter(SCOPE);
  return {
    decisions: meter.createCounter(METRICS.decisions, {
      description: "proposed calls by their decision",
      unit: "{decision}",
    }),
    duration: meter.createHistogram(METRICS.duration, {
      description: "time from the proposal of a call to its decision",
      unit: "s",
      advice: { explicitBucketBoundaries: BOUNDS },
    }),
  };
}

function attributesOf({ conversationId, callId, agentId, tool }: TracedCall): Attributes {
  return {
    [ATTRIBUTES.tool]: tool,
    [ATTRIBUTES.callId]: callId,
    [ATTRIBUTES.conversationId]: conversationId,
    ...(agentId === null ? {} : { [ATTRIBUTES.agentId]: agentId }),
  };
}

/** `labels` have few values, so metrics have them too. */
type Described = { readonly labels: Attributes; readonly details: Attributes };

const UNAVAILABLE: Described = {
  labels: {
    [ATTRIBUTES.outcome]: "refused",
    [ATTRIBUTES.effective]: "refused",
    [ATTRIBUTES.reason]: "gate_unavailable",
  },
  details: {},
};

function describe(event: DecisionEvent): Described {
  const cause = causeOf(event);
  return {
    labels: {
      [ATTRIBUTES.outcome]: cause?.outcome ?? "allowed",
      [ATTRIBUTES.effective]: event.type,
      ...(cause === null ? {} : { [ATTRIBUTES.reason]: cause.reason }),
    },
    details: {
      [ATTRIBUTES.policyRevision]: event.policy.revision,
      ...(cause === null ? {} : { [ATTRIBUTES.rule]: cause.rule }),
    },
  };
}

type Cause = {
  readonly outcome: "refused" | "held";
  readonly reason: string;
  readonly rule: string;
};

/** Why a call is refused or held, or would be without the mode `shadow`. Null: it may run. */
function causeOf(event: DecisionEvent): Cause | null {
  if (event.type === "held") return held(event.rule);
  if (event.type === "refused") return { outcome: "refused", ...event.refusal };
  const [notice] = event.notices.shadow;
  if (notice === undefined) return null;
  return notice.reason === APPROVAL ? held(notice.rule) : { outcome: "refused", ...notice };
}

const APPROVAL = "approval_required";

function held(rule: string): Cause {
  return { outcome: "held", reason: APPROVAL, rule };
}
