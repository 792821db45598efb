// What one record costs: `npx tsx test/bench/codec.ts` prints microseconds for each operation.
import { createAvroCodec } from "../../services/wire/codec.ts";
import {
  journalOf,
  PLAIN_ALLOWED,
  PLAIN_PROPOSAL,
  REFUSED,
  SAMPLE_POSITION,
  SAMPLE_RESULT,
  SAMPLE_SECRETS,
} from "../support/wire/samples.ts";
import { type BenchRow, percentile } from "./bench-row.ts";

const ROUNDS = 15;
const ROUND_OPERATIONS = 20_000;
const NANOS_PER_MICRO = 1_000;

function measure(operation: string, bytes: number, run: () => unknown): BenchRow {
  const rounds: number[] = [];
  let sink: unknown;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = process.hrtime.bigint();
    for (let at = 0; at < ROUND_OPERATIONS; at += 1) sink = run();
    const nanos = Number(process.hrtime.bigint() - start);
    rounds.push(nanos / ROUND_OPERATIONS / NANOS_PER_MICRO);
  }
  if (sink === undefined) throw new Error(`${operation} gave nothing`);
  const micros = Float64Array.from(rounds).sort();
  const best = micros[0]?.toFixed(2);
  return {
    name: `codec: ${operation}`,
    unit: "µs",
    p50: percentile(micros, 0.5),
    note: `${bytes} bytes; best of ${ROUNDS} rounds ${best}`,
  };
}

/** One row for each operation that a call goes through, with records of ordinary size. */
export function benchCodec(): readonly BenchRow[] {
  const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });
  const journal = journalOf(PLAIN_PROPOSAL, [PLAIN_ALLOWED]);
  const refusedJournal = journalOf(PLAIN_PROPOSAL, [REFUSED]);
  const proposal = codec.encodeProposal(PLAIN_PROPOSAL);
  const { tenantId, conversationId, callId, turn, tool } = PLAIN_PROPOSAL;
  const json = Buffer.from(
    JSON.stringify({
      tenantId,
      conversationId,
      callId,
      turn,
      tool,
      arguments: JSON.parse(PLAIN_PROPOSAL.arguments as string),
    }),
  );
  const result = codec.encodeResult(SAMPLE_RESULT);
  const written = codec.encodeJournal(journal);
  const refused = codec.encodeJournal(refusedJournal);
  const allowedCall = codec.encodeDecision(PLAIN_ALLOWED, SAMPLE_POSITION).value;
  const refusedCall = codec.encodeDecision(REFUSED, SAMPLE_POSITION).value;
  return [
    measure("encode proposal", proposal.length, () => codec.encodeProposal(PLAIN_PROPOSAL)),
    measure("decode proposal", proposal.length, () => codec.decodeInput("proposals", proposal)),
    measure("decode JSON proposal", json.length, () => codec.decodeInput("proposals", json)),
    measure("decode result", result.length, () => codec.decodeInput("results", result)),
    measure("encode journal, allowed", written.length, () => codec.encodeJournal(journal)),
    measure("encode journal, refused", refused.length, () => codec.encodeJournal(refusedJournal)),
    measure("decode journal, allowed", written.length, () => codec.decodeJournal(written)),
    measure("decode journal, refused", refused.length, () => codec.decodeJournal(refused)),
    measure("encode allowed, key included", allowedCall.length, () =>
      codec.encodeDecision(PLAIN_ALLOWED, SAMPLE_POSITION),
    ),
    measure("encode refused", refusedCall.length, () =>
      codec.encodeDecision(REFUSED, SAMPLE_POSITION),
    ),
  ];
}

if (process.argv[1]?.match(/codec\.[jt]s$/)) {
  for (const { name, p50, unit, note } of benchCodec()) {
    console.log(`${name.padEnd(38)} ${p50.toFixed(2).padStart(6)} ${unit}  (${note})`);
  }
}
