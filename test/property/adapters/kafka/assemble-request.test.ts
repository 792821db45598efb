import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, it } from "vitest";
import { assembleRequest } from "../../../../services/adapters/kafka/patches/assemble-request.ts";

const require = createRequire(import.meta.url);
const stock = require("kafkajs/src/protocol/request") as typeof assembleRequest;

const body = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));
const clientId = fc.oneof(
  fc.constantFrom(null, undefined, "", "gate"),
  fc.string({ unit: "grapheme", maxLength: 400 }),
);
const NO_ROOM = 0;
const LARGE = 400;

it("puts the front of a request down as kafkajs does, byte for byte, whatever room is before its body", async () => {
  await fc.assert(
    fc.asyncProperty(
      body,
      fc.record({
        correlationId: fc.nat(2_147_483_647),
        clientId,
        apiKey: fc.nat(80),
        apiVersion: fc.nat(20),
      }),
      fc.oneof(fc.constant(NO_ROOM), fc.nat(LARGE)),
      async (bytes, { correlationId, clientId, ...api }, room) => {
        const whole = Buffer.concat([Buffer.alloc(room, "x"), bytes]);
        const buffer = whole.subarray(room);
        const requestOf = (encoded: object) => ({
          ...{ correlationId, clientId },
          request: { ...api, encode: () => Promise.resolve(encoded as { buffer: Buffer }) },
        });
        const theirs = await stock(requestOf({ buf: bytes, buffer: bytes }));
        const withRoom = await assembleRequest(requestOf({ buffer, whole }));
        const without = await assembleRequest(requestOf({ buffer }));
        expect(withRoom.buffer.equals(theirs.buffer)).toBe(true);
        expect(without.buffer.equals(theirs.buffer)).toBe(true);
        expect(whole.subarray(room).equals(bytes)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
