// A gate whose host's clock differs from the brokers': the host's clock decides nothing, but it
// triggers ticks.
import { afterEach, describe, expect, it } from "vitest";
import type { Clock } from "../../../services/runtime/ports.ts";
import { RuntimeKit } from "../../support/runtime-kit.ts";

let kit: RuntimeKit;
afterEach(() => kit.close());

/** Log lines about the clock after some decisions of a gate whose clock is off by so many ms. */
async function collectClockLines(
  offMs: number,
  decisions = 3,
  unheard = false,
): Promise<readonly unknown[]> {
  kit = new RuntimeKit();
  const clock: Clock = {
    nowMs: () => kit.clock.nowMs() + offMs,
    sleep: () => kit.clock.sleep(),
  };
  kit.start({ checkpoints: null, context: { clock }, unheard });
  for (let count = 1; count <= decisions; count += 1) {
    await kit.propose({ conversationId: `c${count}`, tool: "read_order" });
    await kit.journaled(count);
  }
  return kit.lines.filter(({ message }) => message.includes("clock"));
}

describe("the clock of a gate's host", () => {
  it("is reported once where it is behind the brokers'", async () => {
    expect(await collectClockLines(-60_000)).toEqual([
      {
        level: "warn",
        message: expect.stringMatching(/^this host's clock is behind .*fall due that much later/),
        fields: { partition: 0, byMs: 60_000 },
      },
    ]);
  });

  it("is reported once where it is ahead of the brokers'", async () => {
    expect(await collectClockLines(60_000)).toEqual([
      {
        level: "warn",
        message: expect.stringMatching(/^this host's clock is ahead of .*looks for deadlines/),
        fields: { partition: 0, byMs: 60_000 },
      },
    ]);
  });

  it("is reported also where nobody listens to the journal, as in most gates", async () => {
    expect(await collectClockLines(-60_000, 3, true)).toHaveLength(1);
  });

  it("is reported again after a while, as long as it is wrong", async () => {
    await collectClockLines(-60_000, 1);
    kit.clock.advance(11 * 60_000);
    await kit.propose({ conversationId: "later", tool: "read_order" });
    await expect
      .poll(() => kit.lines.filter(({ message }) => message.includes("clock")))
      .toHaveLength(2);
  });

  it.each([-4_000, 0, 4_000])("is not reported where it is off by only %d ms", async (offMs) => {
    expect(await collectClockLines(offMs)).toEqual([]);
  });
});
