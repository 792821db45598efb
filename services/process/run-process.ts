/**
 * Runs a long-lived process: health and metrics from the first moment, an orderly shutdown within a
 * stated time, and a second signal that ends it at once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../adapters/config/config-schema.ts";
import {
  type Health,
  type HealthServer,
  startHealthServer,
} from "../adapters/http/health-server.ts";
import { createJsonLogger } from "../adapters/log/json-logger.ts";
import { createProcessMetrics, type ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import { asPipelineError, PipelineError } from "../runtime/errors.ts";
import type { Logger } from "../runtime/ports.ts";
import { EXIT_ENVIRONMENT, EXIT_OK, type ExitCode, environmentError } from "./exit-error.ts";
import { onStop } from "./stop-signals.ts";
import { onStrayError } from "./stray-errors.ts";

export type ProcessContext = {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: ProcessMetrics;
  /** Aborts when the process is asked to end, also while it starts. */
  readonly signal: AbortSignal;
  /**
   * To be called when the process cannot go on: it shuts down in order, with an exit code that says
   * so.
   */
  readonly fail: (error: unknown) => void;
  /** Sets what `/readyz` shows while the process starts. */
  readonly waitsFor: (what: string) => void;
};

export type RunningService = {
  readonly ready: () => Health;
  /** Finishes what is under way, within `shutdownMs`. False: something had to be interrupted. */
  close(): Promise<boolean>;
};

export type ProcessParts = {
  /** Label of the process's logs and metrics: `gate`. */
  readonly service: string;
  readonly config: Config;
  readonly portDefault: number;
  readonly start: (context: ProcessContext) => Promise<RunningService>;
};

const STOPPING: Health = { ok: false, detail: { state: "stopping" } };
const ALIVE: Health = { ok: true, detail: {} };

/** Where a process writes its log, one JSON object a line. */
export type ProcessOutput = { write(text: string): Promise<void> };

/**
 * @throws ExitError where the process cannot start because of its address, the brokers or the
 *   topics.
 */
export async function runProcess(parts: ProcessParts, output: ProcessOutput): Promise<ExitCode> {
  const { service, config } = parts;
  const sink = { write: (line: string) => void output.write(line).catch(() => undefined) };
  const logger = createJsonLogger(sink, config.log.level, { service, pid: process.pid });
  const metrics = createProcessMetrics(service);
  const stop = onStop();
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    logger.error("the process cannot go on", { message: asPipelineError(error).message });
    stop.now();
  };
  const endStray = onStrayError(fail);
  let running: RunningService | undefined;
  let starting: Health = { ok: false, detail: { state: "starting" } };
  const waitsFor = (what: string): void => {
    starting = { ok: false, detail: { state: "starting", waitsFor: what } };
  };
  const ready = (): Health => (stop.signal.aborted ? STOPPING : (running?.ready() ?? starting));
  // Exported from the first moment: a process that waits for brokers or for its group is not ready,
  // but it is there.
  metrics.watch("ready", "1: the process does its work, as /readyz says", [], () => [
    { labels: {}, value: ready().ok ? 1 : 0 },
  ]);
  let health: HealthServer | undefined;
  try {
    health = await openHealth(parts, metrics, ready);
    logger.info("starting", { host: config.http.host, port: health.port });
    const { signal } = stop;
    const started = parts.start({ config, logger, metrics, signal, fail, waitsFor });
    const asked = aborted(stop.signal);
    await Promise.race([started, asked]);
    if (!stop.signal.aborted) {
      running = await started;
      logger.info("started");
      await asked;
    }
    logger.info("stopping", { withinMs: config.shutdownMs });
    const closed = started.then(
      (one) => one.close(),
      // The process was asked to end before it could start.
      (error: unknown) => {
        logger.warn("ended before it had started", { message: asPipelineError(error).message });
        return true;
      },
    );
    const end = await within(closed, config.shutdownMs);
    if (end === "late")
      logger.error("the process did not stop in time", { withinMs: config.shutdownMs });
    else if (end) logger.info("stopped");
    else logger.error("stopped, and interrupted what was under way");
    return end === true && failures.length === 0 ? EXIT_OK : EXIT_ENVIRONMENT;
  } catch (error) {
    throw error instanceof PipelineError ? environmentError(error.message, error) : error;
  } finally {
    stop.end();
    await health?.close();
    endStray();
  }
}

async function openHealth(
  { config, portDefault }: ProcessParts,
  metrics: ProcessMetrics,
  ready: () => Health,
) {
  const { host, port = portDefault } = config.http;
  try {
    return await startHealthServer({ host, port, live: () => ALIVE, ready, metrics });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw environmentError(
      `health cannot be served at ${host}:${port}: ${why}; set http.port (CALLGATE_HTTP_PORT)`,
      error,
    );
  }
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The result of `done`, or "late" after `timeMs`. @throws what `done` throws. */
async function within<T>(done: Promise<T>, timeMs: number): Promise<T | "late"> {
  const controller = new AbortController();
  const late = sleep(timeMs, "late" as const, { signal: controller.signal }).catch(
    () => "late" as const,
  );
  const result = await Promise.race([done, late]);
  controller.abort();
  return result;
}
