import { expect, test } from "vitest";
import { createProcessMetrics } from "../../../services/adapters/metrics/process-metrics.ts";
import { createLeftTools } from "../../../services/executor/handlers.ts";
import type { LeftCall } from "../../../services/executor/log-executor.ts";
import { createTestLogger, type LoggedLine } from "../../support/runtime-kit.ts";

const NOT_AFTER_MS = 60_000;

/** A process that leaves calls to others, each with a decision of its own unless one is given. */
function leftTools() {
  const lines: LoggedLine[] = [];
  const metrics = createProcessMetrics("executor");
  const clock = { atMs: 0, nowMs: (): number => clock.atMs };
  const leave = createLeftTools(createTestLogger(lines), metrics, clock);
  let calls = 0;
  const left = (tool: string): LeftCall => {
    calls += 1;
    const identifiedCall = { callId: `c${calls}`, agentId: null, turn: null, step: null, tool };
    const call = { decisionId: `d${calls}`, call: identifiedCall, notAfterMs: NOT_AFTER_MS };
    leave(call);
    return call;
  };
  return { lines, clock, left, leave, numbers: () => metrics.text() };
}

test("warns once of a tool without a handler, and counts each of its calls", async () => {
  const { lines, left, numbers } = leftTools();
  for (const tool of ["pay", "pay", "ship"]) left(tool);
  expect(lines.map(({ level, fields }) => [level, fields["tool"]])).toEqual([
    ["warn", "pay"],
    ["warn", "ship"],
  ]);
  const text = await numbers();
  expect(text).toContain('callgate_executor_left_total{tool="pay",service="executor"} 2');
  expect(text).toContain('callgate_executor_left_total{tool="ship",service="executor"} 1');
});

test("counts a call once that is read again after take-overs, while it might begin", async () => {
  const { clock, left, leave, numbers } = leftTools();
  const call = left("pay");
  for (const atMs of [1, NOT_AFTER_MS / 2, NOT_AFTER_MS]) {
    clock.atMs = atMs;
    leave(call);
  }
  expect(await numbers()).toContain('_left_total{tool="pay",service="executor"} 1');
  left("pay");
  expect(await numbers()).toContain('_left_total{tool="pay",service="executor"} 2');
});

test("does not remember a call that cannot begin any more", async () => {
  const { clock, left, leave, numbers } = leftTools();
  const call = left("pay");
  clock.atMs = NOT_AFTER_MS + 10_000;
  left("ship");
  leave(call);
  expect(await numbers()).toContain('_left_total{tool="pay",service="executor"} 2');
});

test("gives endlessly many names one shared label and one warning", async () => {
  const { lines, left, numbers } = leftTools();
  for (let number = 0; number < 1_000; number += 1) left(`made_up_${number}`);
  left("made_up_0");
  expect(lines).toHaveLength(201);
  const text = await numbers();
  expect(text).toContain('callgate_executor_left_total{tool="(other)",service="executor"} 800');
  expect(text).toContain('callgate_executor_left_total{tool="made_up_0",service="executor"} 2');
});
