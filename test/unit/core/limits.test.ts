import { expect, test } from "vitest";
import { LIMITS } from "../../../services/core/limits.ts";

test("the bounds are these: another number is another memory, and refuses other calls", () => {
  expect(LIMITS).toEqual({
    callNames: 4_096,
    callNameBytes: 8_388_608,
    callNameKeepMs: 3_600_000,
    readTwins: 1_024,
    readTwinBytes: 4_194_304,
    writeTwins: 2_048,
    writeTwinBytes: 4_194_304,
    resources: 2_048,
    sketches: 128,
    startWithinMsMax: 86_400_000,
    doubts: 64,
    effectHolders: 16,
    exclusiveEffects: 8_192,
    openCalls: 256,
    confirmations: 1_024,
    strikes: 128,
    counters: 256,
    rateWindowCalls: 1_000,
    ringDefault: 64,
    ringMin: 8,
    ringMax: 512,
    outputBytesDefault: 16_384,
    outputBytesMax: 262_144,
    shownArguments: 500,
    shownResult: 1_000,
    shownError: 500,
    noticesPerDecision: 16,
    idLength: 256,
    resultNameLength: 512,
    toolNameLength: 256,
    assistantTextLength: 16_384,
  });
});
