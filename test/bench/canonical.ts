/**
 * What the canonical form costs: the value and the canonical text of one call's arguments, beside
 * JSON.parse, which gives the value alone, and beside two libraries that together give both. All
 * of them are measured in turn within one process, so that a busy machine slows them alike.
 */
import { pathToFileURL } from "node:url";
import canonicalize from "canonicalize";
import { parse as parseLossless } from "lossless-json";
import { parseCanonical } from "../../services/core/canonical/parse-canonical.ts";
import { actionDigest, decisionIdOf, idempotencyKey } from "../../services/core/hash.ts";
import { type BenchRow, percentile } from "./bench-row.ts";
import { recordedArguments } from "./recorded-calls.ts";

type Candidate = { readonly name: string; readonly run: (text: string) => unknown };

type Input = { readonly name: string; readonly texts: readonly string[] };

export const RECORDED = "recorded calls";
export const RECORDED_SPACED = "recorded calls, with spaces";

/** Different texts of one shape, so that nothing can be cached by text. */
const TEXTS = 64;

const ROUNDS = 150;

const WARM_UP_ROUNDS = 50;

const JSON_PARSE: Candidate = { name: "JSON.parse", run: (text) => JSON.parse(text) };

const CANDIDATES: readonly Candidate[] = [
  JSON_PARSE,
  { name: "parseCanonical", run: (text) => parseCanonical(text) },
  {
    name: "lossless-json + canonicalize",
    // Numbers as plain ones, as canonicalize knows no others; the strictness is what costs.
    run: (text) => canonicalize(parseLossless(text, null, { parseNumber: Number })),
  },
];

function smallCall(at: number): object {
  return {
    amount_cents: 4_500 + at,
    currency: "EUR",
    order_id: `ord_${10_293 + at}`,
    reason: "damaged item",
  };
}

function call(at: number): object {
  return {
    amount_cents: 12_999 + at,
    currency: "USD",
    customer_id: `cus_8fj3k2l${at}`,
    description: "Monthly subscription for the team plan",
    due_in_days: 30,
    items: [{ quantity: 3, sku: `TEAM-${at}`, unit_cents: 4_333 }],
    metadata: { region: "eu-west-1", source: "agent" },
    notify: true,
  };
}

function fileCall(at: number): object {
  const lines = Array.from({ length: 12 }, (_, line) => `  return "${at + line}\u00e9";`);
  return { content: lines.join("\n"), path: `src/\u00fcber-${at}.ts` };
}

function longCall(at: number): object {
  return { rows: Array.from({ length: 38 }, (_, row) => call(at + row)) };
}

/** Members unsorted, in the order in which models tend to write them. */
function turned(value: object): object {
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    item !== null && typeof item === "object" && !Array.isArray(item) ? turned(item) : item,
  ]);
  const middle = Math.floor(entries.length / 2);
  return Object.fromEntries([...entries.slice(middle), ...entries.slice(0, middle)]);
}

/** With a space after each comma and colon, as Python writes JSON. */
function spaced(value: object): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, " ")
    .replaceAll(/([[{]) /g, "$1")
    .replaceAll(/ ([\]}])/g, "$1");
}

function escaped(value: object): string {
  return JSON.stringify(value).replaceAll(/[\u0080-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Texts made from bytes, as they arrive: V8 reads concatenated strings differently. */
function arrived(text: string): string {
  return Buffer.from(text).toString("utf8");
}

function input(name: string, make: (at: number) => string): Input {
  const texts = Array.from({ length: TEXTS }, (_, at) => arrived(make(at)));
  return { name: `${name}, ${Buffer.byteLength(texts[0] ?? "")} bytes`, texts };
}

function recordedInputs(): readonly Input[] {
  const recorded = recordedArguments();
  if ("missing" in recorded) return [];
  return [
    { name: RECORDED, texts: recorded.map(arrived) },
    { name: RECORDED_SPACED, texts: recorded.map((text) => arrived(spaced(JSON.parse(text)))) },
  ];
}

const INPUTS: readonly Input[] = [
  input("small, canonical", (at) => JSON.stringify(smallCall(at))),
  input("small, other order", (at) => JSON.stringify(turned(smallCall(at)))),
  input("canonical", (at) => JSON.stringify(call(at))),
  input("other order", (at) => JSON.stringify(turned(call(at)))),
  input("spaces, canonical order", (at) => spaced(call(at))),
  input("spaces, other order", (at) => spaced(turned(call(at)))),
  input("short escapes, letters beyond ASCII", (at) => JSON.stringify(fileCall(at))),
  input("all letters beyond ASCII escaped", (at) => escaped(fileCall(at))),
  input("long, canonical", (at) => JSON.stringify(longCall(at))),
  input("long, spaces, other order", (at) =>
    spaced({ b: Object.values(longCall(at))[0].map(turned), a: at }),
  ),
];

/** Keeps results alive, so that no work is optimized away. */
let lastResult: unknown;

function timed(candidate: Candidate, texts: readonly string[], repeats: number): number {
  const start = performance.now();
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    for (const text of texts) lastResult = candidate.run(text);
  }
  return ((performance.now() - start) * 1e6) / (texts.length * repeats);
}

function measured({ name, texts }: Input): BenchRow[] {
  const repeats = texts.length > TEXTS || (texts[0] ?? "").length > 2_000 ? 1 : 8;
  const samples = CANDIDATES.map(() => new Float64Array(ROUNDS));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    CANDIDATES.forEach((candidate, at) => {
      const ns = timed(candidate, texts, repeats);
      const column = samples[at];
      if (column !== undefined && round >= 0) column[round] = ns;
    });
  }
  const base = samples[CANDIDATES.indexOf(JSON_PARSE)] ?? new Float64Array();
  return CANDIDATES.map((candidate, at) => {
    const column = samples[at] ?? new Float64Array();
    const ratio = percentile(column.map((ns, round) => ns / (base[round] ?? 1)).sort(), 0.5);
    column.sort();
    return {
      name: `${name}: ${candidate.name}`,
      unit: "ns",
      p50: percentile(column, 0.5),
      p99: percentile(column, 0.99),
      note: `${ratio.toFixed(2)} x JSON.parse`,
    };
  });
}

function hashRows(): BenchRow[] {
  const texts = Array.from({ length: TEXTS }, (_, at) => JSON.stringify(call(at)));
  const name = { tenantId: "default", conversationId: "conv-1", turn: "3", step: "1" };
  const digest = "ab".repeat(32);
  const candidates: readonly Candidate[] = [
    { name: "actionDigest", run: (text) => actionDigest("create_invoice", text) },
    {
      name: "decisionIdOf",
      run: (text) => decisionIdOf({ ...name, callId: text.slice(20, 30) }, "send", digest),
    },
    {
      name: "idempotencyKey",
      run: (text) =>
        idempotencyKey("0123456789abcdef0123456789abcdef", {
          tenantId: name.tenantId,
          conversationId: name.conversationId,
          tool: "create_invoice",
          identity: digest,
          decisionId: text.slice(0, 32),
        }),
    },
  ];
  return candidates.map((candidate) => {
    const samples = Float64Array.from({ length: ROUNDS }, () => timed(candidate, texts, 8)).sort();
    return {
      name: `digest: ${candidate.name}`,
      unit: "ns",
      p50: percentile(samples, 0.5),
      p99: percentile(samples, 0.99),
    };
  });
}

/** Rows of the bench's table: three for each input, one for each digest. None of recorded calls where they are absent. */
export async function benchCanonical(): Promise<BenchRow[]> {
  return [...INPUTS.flatMap(measured), ...recordedInputs().flatMap(measured), ...hashRows()];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const rows = await benchCanonical();
  for (const { name, unit, p50, p99, note } of rows) {
    console.log(
      `${name.padEnd(70)} ${p50.toFixed(0).padStart(8)} ${unit}  p99 ${(p99 ?? 0).toFixed(0).padStart(8)}  ${note ?? ""}`,
    );
  }
  if (lastResult === undefined) throw new Error("nothing was measured");
}
