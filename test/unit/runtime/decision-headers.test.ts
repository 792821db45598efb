import { describe, expect, it } from "vitest";
import { decisionHeaders } from "../../../services/runtime/decision-headers.ts";
import { ALLOWED, HELD, REFUSED } from "../../support/wire/samples.ts";

const TRACE = { name: "traceparent", value: "00-1-2-01" };
const OTHER = { name: "x", value: "1" };
const SOURCE = "/callgate/eu";

const byName = (headers: ReturnType<typeof decisionHeaders>) =>
  Object.fromEntries(headers.map(({ name, value }) => [name, value]));

describe("the headers of a decision", () => {
  it("make it no CloudEvent where no source is configured", () => {
    const names = Object.keys(byName(decisionHeaders(ALLOWED, [TRACE, OTHER], null)));
    expect(names.filter((name) => !name.startsWith("callgate-"))).toEqual(["traceparent"]);
  });

  it.each([
    [ALLOWED, ALLOWED.decisionId],
    [REFUSED, REFUSED.decisionId],
    [HELD, HELD.holdId],
  ] as const)(
    "make it a CloudEvent in binary mode where a source is configured (%#)",
    (event, id) => {
      const headers = decisionHeaders(event, [TRACE, OTHER], SOURCE);
      const { tenantId, conversationId, times } = event;
      expect(byName(headers)).toMatchObject({
        ce_specversion: "1.0",
        ce_id: id,
        ce_source: SOURCE,
        ce_type: `callgate.call.${event.type}.v1`,
        ce_subject: `${tenantId}/${conversationId}`,
        ce_time: new Date(times.atMs).toISOString(),
        "content-type": "application/avro",
        traceparent: TRACE.value,
        ce_traceparent: TRACE.value,
        "callgate-outcome": event.type,
      });
      expect(new Set(headers.map(({ name }) => name)).size).toBe(headers.length);
    },
  );
});
