import { expect, test } from "vitest";
import { topicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import { compileGatePolicy, withSecret } from "../../../services/gate/gate-policy.ts";
import { type WarmUpParts, warmUp } from "../../../services/gate/warm-up.ts";
import { FatalError } from "../../../services/runtime/errors.ts";
import { type AvroCodec, createAvroCodec } from "../../../services/wire/codec.ts";
import { createTestLogger, type LoggedLine } from "../../support/runtime-kit.ts";

const KEY_ID = "k1";
const SECRETS = new Map([[KEY_ID, Buffer.from("a secret that is long enough for it")]]);
const LONG_MS = 60_000;
const codec = createAvroCodec({ secrets: SECRETS });

function policy() {
  const result = compileGatePolicy(loadPolicy({ preset: "strict" }), capabilities);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return withSecret(result.policy, KEY_ID, SECRETS).compiled;
}

function parts(overrides: Partial<WarmUpParts>, lines: LoggedLine[] = []): WarmUpParts {
  const names = topicNames("warm");
  const logger = createTestLogger(lines);
  return {
    codec,
    names,
    logger,
    clock: systemClock,
    policy: policy(),
    forMs: LONG_MS,
    ...overrides,
  };
}

const never = (): AbortSignal => new AbortController().signal;

test("the warm-up decodes, decides and encodes its calls like real ones", async () => {
  const seen = { allowed: 0, refused: 0, held: 0, letters: 0, journal: 0 };
  const counting: AvroCodec = {
    ...codec,
    encodeDecision: (event, at) => {
      seen[event.type] += 1;
      return codec.encodeDecision(event, at);
    },
    encodeJournal: (record) => {
      seen.journal += 1;
      return codec.encodeJournal(record);
    },
    encodeDeadLetter: (letter) => {
      seen.letters += 1;
      return codec.encodeDeadLetter(letter);
    },
  };
  const lines: LoggedLine[] = [];
  expect(await warmUp(parts({ codec: counting }, lines), never())).toBe(10_000);
  expect(seen.journal).toBe(10_000);
  expect(seen.letters).toBe(0);
  expect(seen.allowed).toBeGreaterThan(5_000);
  expect(seen.refused).toBeGreaterThan(1_000);
  expect(lines.map(({ message }) => message)).toEqual(["the gate has warmed up"]);
});

test("the warm-up ends when its time is over, however little was decided", async () => {
  const calls = await warmUp(parts({ forMs: 1 }), never());
  expect(calls).toBeLessThan(10_000);
});

test("the warm-up ends when the gate is stopped", async () => {
  const stop = new AbortController();
  const warm = warmUp(parts({}), stop.signal);
  stop.abort();
  expect(await warm).toBeLessThan(10_000);
});

test("a failed warm-up is logged and does not keep the gate from starting", async () => {
  const broken: AvroCodec = {
    ...codec,
    encodeJournal: () => {
      throw new FatalError("secret_missing", "there is no secret");
    },
  };
  const lines: LoggedLine[] = [];
  expect(await warmUp(parts({ codec: broken }, lines), never())).toBe(0);
  expect(lines).toMatchObject([{ level: "warn", fields: { message: "there is no secret" } }]);
});
