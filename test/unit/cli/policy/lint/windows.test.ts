import { expect, it } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

const READ = "tool_schemas: { a: { read_only: true } }\n";

function listFindings(text: string): readonly string[] {
  return lint(text)
    .filter(({ severity }) => severity !== "info")
    .map(({ code, path, message, remedy }) => `${code} ${path}: ${message}; ${remedy}`);
}

it.each(["read_only: true", "reads: [x]"])(
  "finds a window of a read, which does not affect its cache: %s",
  (declared) => {
    expect(listFindings(`tool_schemas: { a: { ${declared}, dedupe_window_s: 0 } }`)).toEqual([
      "idle-key tool_schemas.a.dedupe_window_s: `dedupe_window_s` does nothing here: how long a read is answered from memory is its `cache_ttl_s`; write `cache_ttl_s: 0`, or remove it",
    ]);
  },
);

it.each([
  [
    "deduplication: { window_ms: 10000 }",
    "short-window deduplication.window_ms: ends after 10 s for writes; reads are answered from memory for 60 s regardless; write `cache_ttl_ms`, too",
  ],
  [
    "tools: { dedupe_window_s: 1 }",
    "short-window tools.dedupe_window_s: ends after 1 s for writes; reads are answered from memory for 60 s regardless; write `cache_ttl_s`, too",
  ],
])("finds a window shorter than the default cache time: %s", (text, expected) => {
  expect(listFindings(READ + text)).toEqual([expected]);
});

it.each([
  "tool_schemas: { a: { read_only: false, dedupe_window_s: 1 } }",
  "tool_schemas: { a: { volatile: true, side_effect_resource: x, dedupe_window_s: 1 } }",
  "tool_schemas: { a: { polling: {}, effects: [{ resource: a, kind: update }], dedupe_window_s: 1 } }",
  "tool_schemas: { a: { commands: sql, dedupe_window_s: 1 } }",
  `${READ}deduplication: { window_ms: 60000 }`,
  `${READ}deduplication: { window_ms: 1000, cache_ttl_ms: 60000 }`,
  `${READ}tools: { dedupe_window_s: 1, cache_ttl_s: 60 }`,
  `${READ}tool_deduplication: { enabled: true }\ndeduplication: { window_ms: 1000 }`,
])("accepts %s", (text) => {
  expect(listFindings(text)).toEqual([]);
});
