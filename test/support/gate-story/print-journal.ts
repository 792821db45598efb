// Prints what the gate decides of one conversation: the same bytes wherever it runs. The argument is
// how far the members of policy and arguments are turned around before anything reads them.
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { HOUR, SECOND, startStory } from "../decider-spec.ts";

const turns = Number(process.argv[2] ?? 0);

/** The same value, its members in another order. */
function shuffled<T>(value: T): T {
  if (Array.isArray(value)) return value.map(shuffled) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, shuffled(inner)] as const);
  const at = turns % Math.max(1, entries.length);
  return Object.fromEntries([...entries.slice(at), ...entries.slice(0, at)]) as T;
}

const chain = (...names: string[]) => names.map((name) => ({ name, arguments: [] }));

const POLICY: PolicyDocument = shuffled({
  checks: { near_duplicate: "enforce", loop_no_progress: "warn" },
  budgets: { max_tool_calls: 30, per_tool: { max_tool_calls: 20 } },
  authorization: {
    tiers: [
      { name: "asked", pattern: "delete_*", action: "hitl", expires_ms: HOUR },
      { name: "granted", pattern: "create_*", action: "per_conversation_grant", ceiling: 3 },
    ],
  },
  tool_schemas: {
    book: {
      normalizers: {
        name: chain("nfc", "collapse_space", "to_lower"),
        city: chain("to_upper"),
        when: chain("datetime"),
        day: chain("date"),
        phone: [{ name: "e164", arguments: ["US"] }],
        mail: chain("email"),
        price: chain("decimal"),
      },
      effects: [{ resource: "day/{day}", kind: "create" }],
      suggest: ["look"],
    },
    look: { read_only: true },
    delete_day: { effects: [{ resource: "day/{day}", kind: "delete" }] },
    create_note: {},
  },
});

const story = startStory(POLICY);
const booking = shuffled({
  name: "İstanbul  Straße",
  city: "izmir ı ß",
  when: "2026-03-29T02:30:00",
  day: "29 March 2026",
  phone: "(415) 555-0199",
  mail: "Ann@Bücher.example",
  price: "1e2",
});
story.done("book", booking, "booked");
story.proposed("book", shuffled({ ...booking, price: 100, day: "2026-03-29" }));
story.after(SECOND).proposed("book", shuffled({ ...booking, day: "2026-03-30", name: "ä" }));
for (const n of [1, 2, 3, 4, 5]) story.done("look", shuffled({ n, b: { y: n, x: "ö" } }), "same");
story.proposed("look", shuffled({ n: 1, b: { x: "ö", y: 1 } }));
const held = story.held("delete_day", shuffled({ day: "2026-03-29", why: "closed" }));
story.approved(held, { reason: "yes" });
for (const n of [1, 2, 3, 4]) story.turn(String(n)).proposed("create_note", shuffled({ n, a: 1 }));
story.failed("look", { n: 9 });
story.after(2 * HOUR).ticked();
process.stdout.write(story.journal.map((event) => `${JSON.stringify(event)}\n`).join(""));
