import { crc32c as native } from "@node-rs/crc32";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeChecksum, crc32c } from "../../../../services/adapters/kafka/records/checksum.ts";

describe("the checksum of a record batch", () => {
  it("is the published check value of CRC-32C", () => {
    for (const checksum of [crc32c, computeChecksum]) {
      expect(checksum(Buffer.from("123456789"))).toBe(0xe3069283);
      expect(checksum(Buffer.alloc(0))).toBe(0);
    }
  });

  it("is the same with and without the native package", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(computeChecksum(bytes)).toBe(native(bytes));
      }),
    );
  });
});
