/** The codec of the gate, and of programs that write its inputs and read its outputs. */
import type { ResultInput, TickInput, VerdictInput } from "../core/inputs.ts";
import type { Codec, DeadLetter, DecodedInput } from "../runtime/ports.ts";
import type { InputTopic } from "../runtime/topics.ts";
import {
  decodeAlert,
  decodeAllowed,
  decodeDeadLetter,
  decodeHeld,
  decodeRefused,
  encodeAlert,
} from "./decode-outputs.ts";
import { encodeAllowed, encodeDeadLetter, encodeDecision, type Secrets } from "./encode-outputs.ts";
import { looksLikeJson, wireId } from "./framing.ts";
import { decodeJournal, encodeJournal } from "./journal.ts";
import type { Alert, AllowedCall, HeldCall, RefusedCall } from "./output-records.ts";
import { decodeProposal, type Envelope, encodeProposal } from "./proposal.ts";
import { decodeJsonProposal } from "./proposal-json.ts";
import { UndecodableError } from "./reader.ts";
import { compileRecordTypes, type RecordTypes } from "./record-types.ts";
import { decodeResult, encodeResult } from "./result.ts";
import { readSchemaFiles, type SchemaFiles } from "./schema-files.ts";
import { decodeVerdict, encodeVerdict } from "./verdict.ts";
import type { WireFormat } from "./writer-schemas.ts";

/** For programs that propose calls, report results, give verdicts, or read what the gate writes. */
export interface ClientCodec {
  /** @throws FatalError where a field does not fit the schema; so do all methods that encode. */
  encodeProposal(proposal: Envelope): Uint8Array;
  encodeResult(result: ResultInput): Uint8Array;
  encodeVerdict(verdict: VerdictInput | TickInput): Uint8Array;
  encodeAlert(alert: Alert): Uint8Array;
  /** For programs that stand in for a gate: a gate writes its own decisions. */
  encodeAllowed(call: AllowedCall): Uint8Array;
  /**
   * @throws PoisonRecordError where the bytes are no such record; so do all methods that decode.
   */
  decodeAllowed(value: Uint8Array): AllowedCall;
  decodeRefused(value: Uint8Array): RefusedCall;
  decodeHeld(value: Uint8Array): HeldCall;
  decodeDeadLetter(value: Uint8Array): DeadLetter;
  decodeAlert(value: Uint8Array): Alert;
}

export type AvroCodec = Codec & ClientCodec;

export type AvroCodecOptions = {
  /** Secrets for the keys of `allowed` records; may be empty where none are written. */
  readonly secrets: Secrets;
  /** The schemas, where the caller has read them already. */
  readonly schemas?: SchemaFiles;
  /** Present: records are written and read in the wire format of a schema registry. */
  readonly wire?: WireFormat;
};

/**
 * Compiles the schemas and returns a codec over them: Avro in single-object encoding or in the wire
 * format of a registry, and plain JSON for inputs. Encoded records are views of memory that is
 * not written again.
 *
 * @throws FatalError where the schema files are missing.
 */
export function createAvroCodec(options: AvroCodecOptions): AvroCodec {
  const { secrets, schemas, wire } = options;
  const isOwn = schemas === undefined && wire === undefined;
  const types = isOwn ? ownTypes() : compileRecordTypes(schemas ?? readSchemaFiles(), wire);
  return {
    pending: (value) => pending(wire, value),
    decodeInput: (topic, value) => decodeInput(types, topic, value),
    encodeJournal: (record) => encodeJournal(types, record),
    decodeJournal: (value) => decodeJournal(types, value),
    encodeDecision: (event, at) => encodeDecision(types, secrets, event, at.offset),
    encodeDeadLetter: (letter) => encodeDeadLetter(types, letter),
    encodeTick: () => encodeVerdict(types, { type: "tick" }),
    encodeProposal: (proposal) => encodeProposal(types, proposal),
    encodeResult: (result) => encodeResult(types, result),
    encodeVerdict: (verdict) => encodeVerdict(types, verdict),
    encodeAlert: (alert) => encodeAlert(types, alert),
    encodeAllowed: (call) => encodeAllowed(types, call),
    decodeAllowed: (value) => decodeAllowed(types, value),
    decodeRefused: (value) => decodeRefused(types, value),
    decodeHeld: (value) => decodeHeld(types, value),
    decodeDeadLetter: (value) => decodeDeadLetter(types, value),
    decodeAlert: (value) => decodeAlert(types, value),
  };
}

let compiledOwn: RecordTypes | undefined;

/** The package's schemas are compiled once a process: that takes longer than all else of opening a gate. */
function ownTypes(): RecordTypes {
  compiledOwn ??= compileRecordTypes(readSchemaFiles());
  return compiledOwn;
}

function pending(wire: WireFormat | undefined, value: Uint8Array | null): Promise<void> | null {
  if (wire === undefined || value === null) return null;
  const id = wireId(value);
  return id === undefined || wire.schemas.isFresh(id) ? null : wire.schemas.fetch(id);
}

const ACCEPTED_FORMS: { readonly [topic in InputTopic]: string } = {
  proposals: "an Avro or JSON record",
  results: "an Avro or JSON record",
  verdicts: "an Avro or JSON record",
};

function decodeInput(
  types: RecordTypes,
  topic: InputTopic,
  value: Uint8Array | null,
): DecodedInput {
  if (value === null || value.length === 0) {
    return { ok: false, message: `the record has no value: send ${ACCEPTED_FORMS[topic]}` };
  }
  try {
    return decodeByTopic(types, topic, value);
  } catch (cause) {
    if (!(cause instanceof UndecodableError)) throw cause;
    const isFramed = value[0] === 0x00 || value[0] === 0xc3;
    const isJson = looksLikeJson(value);
    const json = isFramed || isJson ? "" : ", nor JSON (first byte `{`)";
    return { ok: false, message: `${cause.message}${json}` };
  }
}

function decodeByTopic(types: RecordTypes, topic: InputTopic, value: Uint8Array): DecodedInput {
  switch (topic) {
    case "proposals":
      return looksLikeJson(value) ? decodeJsonProposal(value) : decodeProposal(types, value);
    case "results":
      return decodeResult(types, value);
    case "verdicts":
      return decodeVerdict(types, value);
  }
}
