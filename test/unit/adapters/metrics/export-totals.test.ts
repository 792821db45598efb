import { describe, expect, it } from "vitest";
import { exportTotals } from "../../../../services/adapters/metrics/export-totals.ts";

describe("exportTotals", () => {
  it("writes counters and cumulative histograms in the text format", async () => {
    const registry = exportTotals(() => [
      {
        ...{ name: "stopped_total", help: "stopped calls", bounds: null },
        samples: [{ labels: { reason: 'a"b' }, value: 3 }],
      },
      {
        ...{ name: "steps", help: "steps", bounds: [1, 5] },
        samples: [{ labels: {}, value: 14, buckets: [2, 1, 1] }],
      },
    ]);

    expect(await registry.metrics()).toBe(
      [
        "# HELP callgate_stopped_total stopped calls",
        "# TYPE callgate_stopped_total counter",
        'callgate_stopped_total{reason="a\\"b"} 3',
        "",
        "# HELP callgate_steps steps",
        "# TYPE callgate_steps histogram",
        'callgate_steps_bucket{le="1"} 2',
        'callgate_steps_bucket{le="5"} 3',
        'callgate_steps_bucket{le="+Inf"} 4',
        "callgate_steps_sum 14",
        "callgate_steps_count 4",
        "",
      ].join("\n"),
    );
  });
});
