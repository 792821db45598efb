import { describe, expect, it } from "vitest";
import type { CallAllowed } from "../../../services/core/events.ts";
import { RecentKeys } from "../../../services/wire/recent-keys.ts";
import { ALLOWED } from "../../support/wire/samples.ts";

const call = (): CallAllowed => ({ ...ALLOWED });

function filled(count: number): { keys: RecentKeys; events: CallAllowed[] } {
  const keys = new RecentKeys();
  const events = Array.from({ length: count }, call);
  for (const [at, event] of events.entries()) keys.put(event, `key-${at}`);
  return { keys, events };
}

describe("keys made of late", () => {
  it("are told once each, of the very event that they were made for", () => {
    const { keys, events } = filled(3);
    const [first, second, third] = events as [CallAllowed, CallAllowed, CallAllowed];
    expect(keys.take(call())).toBeUndefined();
    expect([keys.take(first), keys.take(second)]).toEqual(["key-0", "key-1"]);
    expect([keys.take(first), keys.take(second)]).toEqual([undefined, undefined]);
    expect(keys.take(third)).toBe("key-2");
  });

  it("are passed over where nobody asks for them in their turn", () => {
    const { keys, events } = filled(4);
    expect(keys.take(events[2] as CallAllowed)).toBe("key-2");
    expect(events.slice(0, 3).map((event) => keys.take(event))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(keys.take(events[3] as CallAllowed)).toBe("key-3");
  });

  it("give way to later ones, 1,024 in all", () => {
    const { keys, events } = filled(1_024 + 10);
    expect(keys.take(events[9] as CallAllowed)).toBeUndefined();
    expect(keys.take(events[10] as CallAllowed)).toBe("key-10");
    const later = call();
    keys.put(later, "later");
    expect(keys.take(events[1_033] as CallAllowed)).toBe("key-1033");
    expect(keys.take(later)).toBe("later");
  });

  it("are none of an empty memory", () => {
    expect(new RecentKeys().take(ALLOWED)).toBeUndefined();
  });
});
