/** A proposal out of Avro, as `schemas/proposed-call.avsc` has it. */

import type { Envelope } from "./envelope.ts";
import type { FlatReader } from "./flat-reader.ts";

/** Undefined where it is for the library to read. */
export function readProposedCall(
  reader: FlatReader,
  bytes: Buffer,
  from: number,
): (Envelope & { readonly arguments: string }) | undefined {
  reader.begin(bytes, from);
  const envelope = {
    tenantId: reader.commonText(),
    conversationId: reader.text(),
    callId: reader.text(),
    agentId: reader.nullableCommonText(),
    turn: reader.nullableCommonText(),
    step: reader.nullableCommonText(),
    tool: reader.commonText(),
    arguments: reader.text(),
    assistantText: reader.nullableText(),
    estimatedCost: nothing(reader, 1),
    confirmation: reader.nullableText(),
    approvalId: reader.nullableText(),
  };
  // Trace context, and the attributes of CloudEvents: nobody reads them here.
  reader.nothing(6);
  return reader.end() ? envelope : undefined;
}

function nothing(reader: FlatReader, times: number): null {
  reader.nothing(times);
  return null;
}
