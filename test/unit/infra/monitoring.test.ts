// Rules and dashboard ask for numbers that somebody counts.
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createProcessMetrics } from "../../../services/adapters/metrics/process-metrics.ts";
import { FAMILIES } from "../../../services/analytics/totals.ts";
import { findLines, listTextFiles, readText } from "../../support/source-tree.ts";

type Rule = {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: Readonly<Record<string, string>>;
};

type Panel = {
  readonly id: number;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
  readonly targets?: readonly { readonly expr: string }[];
};

const ruleFile: { groups: readonly { rules: readonly Rule[] }[] } = parse(
  readText("infra/prometheus/rules/callgate.yml"),
);
const rules = ruleFile.groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const dashboard: { uid: string; panels: readonly Panel[] } = JSON.parse(
  readText("infra/grafana/dashboards/callgate.json"),
);
const panels = dashboard.panels.filter(({ targets }) => targets !== undefined);

const SERIES = /_(bucket|sum|count)$/;

/** Names that a process serves, or the analytics, without the endings of a histogram. */
async function servedNames(): Promise<ReadonlySet<string>> {
  const text = await createProcessMetrics("gate").text();
  const names = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1] ?? ""));
  for (const name of Object.keys(FAMILIES)) names.add(`callgate_${name}`);
  const sources = listTextFiles().filter((path) => /^services\/.+\.ts$/.test(path));
  for (const path of sources) {
    for (const match of readText(path).matchAll(/\bmetrics\.(add|watch)\(\s*"([a-z_]+)"/g)) {
      names.add(`callgate_${match[2]}${match[1] === "add" ? "_total" : ""}`);
    }
  }
  return names;
}

/** What an expression asks for: names of metrics, and of recorded rules, which have colons. */
function askedNames(expression: string): readonly string[] {
  const plainExpression = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, " ");
  return [...plainExpression.matchAll(/\b(up|(?:callgate|nodejs|process)[a-z0-9_:]+)/g)].map(
    (match) => match[1] ?? "",
  );
}

const everyExpression = [
  ...rules.map(({ alert, record, expr }) => ({ where: alert ?? record ?? "", expr })),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, expr })),
  ),
];

test("every metric in rules and dashboard is exported by a process", async () => {
  const served = await servedNames();
  const recorded = rules.map(({ record }) => record);
  const unknown = everyExpression.flatMap(({ where, expr }) =>
    askedNames(expr)
      .filter((name) => name !== "up" && !recorded.includes(name))
      .filter((name) => !served.has(name) && !served.has(name.replace(SERIES, "")))
      .map((name) => `${where}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test("every expression names a metric", () => {
  expect(everyExpression.filter(({ expr }) => askedNames(expr).length === 0)).toEqual([]);
});

describe("alerts", () => {
  test("have unique names, a severity, a summary and a remedy", () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    const incomplete = alerts
      .filter(({ labels, annotations = {} }) => {
        const { summary = "", description = "" } = annotations;
        const severity = labels?.severity ?? "";
        return !/^(critical|warning|info)$/.test(severity) || !summary || !description;
      })
      .map(({ alert }) => alert);
    expect(incomplete).toEqual([]);
  });

  test("are each fired by a test", () => {
    const tests = readText("infra/prometheus/callgate.test.yml");
    const untested = alerts.filter(({ alert }) => {
      const fired = new RegExp(`alertname="${alert}"|alertname: ${alert}\n +exp_alerts:\n`);
      return !fired.test(tests);
    });
    expect(untested.map(({ alert }) => alert)).toEqual([]);
  });

  test("are explained in docs/monitoring.md", () => {
    const unknown = alerts.filter(
      ({ alert }) => findLines(["docs/monitoring.md"], RegExp(`\`${alert}\``)).length === 0,
    );
    expect(unknown.map(({ alert }) => alert)).toEqual([]);
  });
});

type Tests = { readonly tests: readonly { promql_expr_test?: readonly { expr: string }[] }[] };

describe("the dashboard", () => {
  test("uses the expressions for spend and alerts that promtool tests", () => {
    const { tests }: Tests = parse(readText("infra/prometheus/callgate.test.yml"));
    const tried = tests.flatMap((one) => one.promql_expr_test ?? []).map(({ expr }) => expr);
    const asked = panels
      .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
      .filter((expr) => /callgate_(spend|alerts)_total/.test(expr));
    expect(asked).toHaveLength(2);
    expect(asked.filter((expr) => !tried.includes(expr))).toEqual([]);
  });

  test("uses the data source that is provisioned", () => {
    const provisioned = parse(readText("infra/grafana/provisioning/datasources/prometheus.yml"));
    const uid = provisioned.datasources[0].uid;
    expect(panels.length).toBeGreaterThan(15);
    expect(panels.filter(({ datasource }) => datasource?.uid !== uid)).toEqual([]);
  });

  test("has panels with unique ids within its 24 columns", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });
});
