/**
 * Tells OpenTelemetry of each proposed call: one span and two metrics (names.ts). A program that
 * registers no OpenTelemetry does not load its API. Only names are passed on, never arguments.
 */
import type * as Api from "@opentelemetry/api";
import type { RecordHeader } from "../../runtime/ports.ts";
import type { DecisionTrace, Telemetry, TracedCall } from "../../runtime/telemetry.ts";
import { loadOptional } from "../system/optional-package.ts";
import { Recorder } from "./recorder.ts";

const PACKAGE = "@opentelemetry/api";

/**
 * All copies of the API in a process share what is registered under this symbol of `globalThis`
 * (`src/internal/global-utils.ts` of the API): it is there once a program registers anything.
 */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

export function createTelemetry(): Telemetry {
  let recorder: Recorder | null | undefined;
  return {
    begin: (call, parent) => {
      if (recorder === undefined) {
        if (!(REGISTERED in globalThis)) return null;
        recorder = loadRecorder();
      }
      return recorder === null ? null : begin(recorder, call, parent);
    },
  };
}

function loadRecorder(): Recorder | null {
  const api = loadOptional<typeof Api>(PACKAGE);
  if (api.ok) return new Recorder(api.loaded);
  warn(`decisions are not traced, since ${PACKAGE} is not installed beside callgate`);
  return null;
}

function begin(
  recorder: Recorder,
  call: TracedCall,
  parent: readonly RecordHeader[],
): DecisionTrace | null {
  const trace = protect(() => recorder.begin(call, parent));
  if (trace === undefined) return null;
  return {
    headers: protect(() => trace.headers()) ?? [],
    decided: (event) => void protect(() => trace.decided(event)),
    failed: (code) => void protect(() => trace.failed(code)),
  };
}

/** A processor of the program may throw; the call goes on. */
function protect<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    warn(`OpenTelemetry threw: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function warn(message: string): void {
  process.emitWarning(message, "CallgateTelemetry");
}
