import { expect, test } from "vitest";
import { createProcessMetrics } from "../../../../services/adapters/metrics/process-metrics.ts";
import { createLeftTools } from "../../../../services/cli/process/left-tools.ts";
import { createTestLogger, type LoggedLine } from "../../../support/runtime-kit.ts";

test("a tool without a handler is warned of once, and each of its calls is counted", async () => {
  const lines: LoggedLine[] = [];
  const metrics = createProcessMetrics("executor");
  const left = createLeftTools(createTestLogger(lines), metrics);
  for (const tool of ["pay", "pay", "ship"]) left(tool);
  expect(lines.map(({ level, fields }) => [level, fields["tool"]])).toEqual([
    ["warn", "pay"],
    ["warn", "ship"],
  ]);
  const text = await metrics.text();
  expect(text).toContain('callgate_executor_left_total{tool="pay",service="executor"} 2');
  expect(text).toContain('callgate_executor_left_total{tool="ship",service="executor"} 1');
});

test("names without end share one label, and one warning", async () => {
  const lines: LoggedLine[] = [];
  const metrics = createProcessMetrics("executor");
  const left = createLeftTools(createTestLogger(lines), metrics);
  for (let number = 0; number < 1_000; number += 1) left(`made_up_${number}`);
  left("made_up_0");
  expect(lines).toHaveLength(201);
  const text = await metrics.text();
  expect(text).toContain('callgate_executor_left_total{tool="(other)",service="executor"} 800');
  expect(text).toContain('callgate_executor_left_total{tool="made_up_0",service="executor"} 2');
});
