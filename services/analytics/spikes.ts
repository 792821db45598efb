/** The alerts about a conversation that uses far more than is usual for its agent. */
import type { Alert } from "../wire/output-records.ts";
import type { SpikeMetric } from "./baseline.ts";
import type { Conversation, OpenAlert } from "./conversation.ts";

export type Measure = {
  /** The metric, with its currency where it has one: the name of a baseline. */
  readonly name: string;
  readonly metric: SpikeMetric;
  readonly value: number;
};

type Severity = OpenAlert["severity"];

type Spike = Measure & {
  readonly threshold: number;
  readonly severity: Severity;
  readonly atMs: number;
};

const MICRO_UNITS = 1_000_000;
const MS_PER_SECOND = 1_000;
/** From so many times the threshold on, an alert is critical. */
const CRITICAL_FACTOR = 3;

const KINDS = {
  calls: "calls_spike",
  spend: "spend_spike",
  duration: "duration_spike",
} as const satisfies Record<SpikeMetric, Alert["kind"]>;

export function measuresOf(conversation: Conversation): readonly Measure[] {
  const { calls, spend, firstAtMs, lastAtMs } = conversation;
  const costs = Object.entries(spend).map(
    ([currency, microUnits]) =>
      ({
        name: `spend ${currency}`,
        metric: "spend",
        value: microUnits / MICRO_UNITS,
      }) as const,
  );
  return [
    { name: "calls", metric: "calls", value: calls },
    ...costs,
    { name: "duration", metric: "duration", value: lastAtMs - firstAtMs },
  ];
}

/**
 * The severity of a new alert for a value; null: the value is below its threshold, or the
 * conversation has that alert already. A conversation that goes on after its warning gets a
 * critical alert as well, since values rise gradually.
 */
export function newSeverity(
  { alerts }: Conversation,
  { name, value, threshold }: Pick<Spike, "name" | "value" | "threshold">,
): Severity | null {
  if (value <= threshold) return null;
  const severity = value > CRITICAL_FACTOR * threshold ? "critical" : "warning";
  const raised = alerts.filter((alert) => alert.name === name);
  if (raised.some((alert) => alert.severity === severity || alert.severity === "critical"))
    return null;
  return severity;
}

/** The second alert about a metric has an id of its own, which ends in `:critical`. */
export function spikeAlert(conversation: Conversation, spike: Spike): Alert {
  const { name, metric, value, threshold, severity, atMs } = spike;
  const { tenantId, conversationId, agentId, firstAtMs } = conversation;
  const isSecond = conversation.alerts.some((alert) => alert.name === name);
  const first = `${KINDS[metric]}:${name}:${tenantId}/${conversationId}:${firstAtMs}`;
  const agent = agentId === null ? "its tenant" : `agent ${agentId}`;
  return {
    ...common(conversation, spike),
    alertId: isSecond ? `${first}:${severity}` : first,
    severity,
    atMs,
    resolvedAtMs: null,
    message:
      `${inWords(spike, value)}; usual for ${agent} is up to ${inWords(spike, threshold)}: ` +
      `look at it with \`callgate tail --conversation ${conversationId}\``,
    threshold,
  };
}

export function resolvedAlert(
  conversation: Conversation,
  end: Measure & { readonly alertId: string; readonly atMs: number },
): Alert {
  return {
    ...common(conversation, end),
    alertId: end.alertId,
    severity: "info",
    atMs: end.atMs,
    resolvedAtMs: end.atMs,
    message: `the conversation came to rest with ${inWords(end, end.value)}`,
    threshold: null,
  };
}

function common(
  { tenantId, conversationId, agentId, decisionId, firstAtMs, lastAtMs, calls }: Conversation,
  { metric, value }: Measure,
) {
  return {
    kind: KINDS[metric],
    ...{ tenantId, conversationId, agentId, decisionId },
    tool: null,
    reason: null,
    value,
    windowMs: lastAtMs - firstAtMs,
    count: calls,
  } as const;
}

function inWords({ name, metric }: Measure, value: number): string {
  switch (metric) {
    case "calls":
      return `${Math.round(value)} tool calls`;
    case "spend":
      return `${value.toFixed(2)} ${name.slice("spend ".length)}`;
    case "duration":
      return `${Math.round(value / MS_PER_SECOND)} s`;
  }
}
