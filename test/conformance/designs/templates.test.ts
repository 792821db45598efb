// The published configuration templates load unchanged, and mean what they say.
import { describe, expect, test } from "vitest";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { tell, templatePath, templateText } from "../../support/gate-story/tell.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function loaded(text: string): PolicyDocument {
  const result = loadPolicy([{ name: "pasted.yaml", text }]);
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join("; "));
  return result.document;
}

describe("T1", () => {
  test("allows at most 100 reads a minute", async () => {
    const story = await tell(templatePath("t1"));
    for (let i = 0; i < 100; i++) {
      expect(await story.outcome("get_order", { i })).toBe("allowed");
    }
    expect(await story.outcome("get_order", { i: 100 })).toBe("rate_limited");
    story.after(MINUTE);
    expect(await story.outcome("list_orders", { i: 100 })).toBe("allowed");
  });

  test("grants ten writes an hour, and holds removals for a person with a reason", async () => {
    const story = await tell(templatePath("t1"));
    for (let i = 0; i < 10; i++) await story.done("update_order", { i });
    expect(await story.outcome("update_order", { i: 10 })).toBe("grant_exceeded");
    const held = await story.propose("delete_order", { i: 1 });
    expect(held.outcome).toBe("held");
    await expect(story.approve(held)).rejects.toMatchObject({ code: expect.any(String) });
    expect((await story.approve(held, { reason: "asked for" })).outcome).toBe("allowed");
    const later = await tell(templatePath("t1"));
    await later.done("create_order", { i: 1 });
    later.after(HOUR);
    expect(await later.outcome("create_order", { i: 2 })).toBe("grant_exceeded");
  });

  test("takes spellings of an invoice for one, whatever its other arguments", async () => {
    const story = await tell(templatePath("t1"));
    const invoice = { amount_cents: "500", currency: "eur", customer_id: "c1" };
    await story.done("create_invoice", invoice, { id: 1 });
    const again = { amount_cents: 500, currency: "EUR", customer_id: "c1", note: "urgent" };
    expect(await story.outcome("create_invoice", again)).toBe("duplicate_call");
    story.after(5 * MINUTE);
    expect(await story.outcome("create_invoice", again)).toBe("side_effect_conflict");
    expect(await story.outcome("create_invoice", { ...again, amount_cents: 501 })).toBe("allowed");
  });

  test("ignores the case of an address, and refuses the third equal call as a loop", async () => {
    const story = await tell(templatePath("t1"));
    await story.done("send_email", { recipient: "Ann@a.example", subject: "hi", body: "1" });
    const again = { recipient: "ann@A.example", subject: "hi", body: "2" };
    expect(await story.outcome("send_email", again)).toBe("duplicate_call");
    story.after(5 * MINUTE);
    await story.done("send_email", again, "sent, with another number");
    story.after(5 * MINUTE);
    expect(await story.outcome("send_email", again)).toBe("loop_repeat");
  });

  test("refuses tools without tier or schema as unknown", async () => {
    const story = await tell(templatePath("t1"));
    expect(await story.outcome("format_disk", {})).toBe("unknown_tool");
  });
});

describe("T2", () => {
  test("gives each run 12 calls and 60 seconds", async () => {
    const story = await tell(templatePath("t2"));
    for (let i = 0; i < 12; i++) await story.done("http.get", { i }, `page ${i}`);
    expect(await story.outcome("http.get", { i: 12 })).toBe("budget_calls");
    story.turn(2);
    expect(await story.outcome("http.get", { i: 12 })).toBe("allowed");
    story.after(MINUTE);
    expect(await story.outcome("http.get", { i: 13 })).toBe("budget_seconds");
  });

  test("gives each run 25 steps", async () => {
    const text = templateText("t2").replace("max_tool_calls: 12", "max_tool_calls: 100");
    const story = await tell(loaded(text));
    for (let i = 0; i < 25; i++) await story.done("http.get", { i }, `page ${i}`);
    expect(await story.outcome("http.get", { i: 25 })).toBe("budget_steps");
  });

  test("retries each retryable status twice and no other", async () => {
    const story = await tell(templatePath("t2"));
    for (const code of ["408", "429", "500", "502", "503", "504"]) {
      story.turn(code);
      expect((await story.failed("http.get", { code }, "failed", code)).outcome).toBe("allowed");
      expect((await story.failed("http.get", { code }, "failed", code)).outcome).toBe("allowed");
      expect(await story.outcome("http.get", { code })).toBe("retry_exhausted");
    }
    story.turn("other");
    await story.failed("http.get", { code: "403" }, "forbidden", "403");
    expect(await story.outcome("http.get", { code: "403" })).toBe("retry_exhausted");
  });

  test("reads `retries` with and without its indentation alike", () => {
    const lost = templateText("t2").replace(
      /\n {2}retries:\n {4}(.*)\n {4}(.*)/,
      "\nretries:\n  $1\n  $2",
    );
    expect(lost).toContain("\nretries:");
    expect(loaded(lost)).toEqual(loaded(templateText("t2")));
  });
});

describe("T3", () => {
  test("answers the first repeat in a turn from memory, with a note", async () => {
    const story = await tell(templatePath("t3"));
    await story.done("read_file", { path: "a" }, "text");
    const { refusal } = await story.propose("read_file", { path: "a" });
    expect(refusal).toMatchObject({ reason: "duplicate_call", duplicate: true });
    expect(refusal?.note).not.toBeNull();
    story.turn(2);
    expect(await story.outcome("read_file", { path: "a" })).toBe("allowed");
  });

  test("lets the first repeat run with a threshold of two", async () => {
    const text = templateText("t3").replace(
      "exact_duplicate_threshold: 1",
      "exact_duplicate_threshold: 2",
    );
    const story = await tell(loaded(text));
    await story.done("read_file", { path: "a" }, "one");
    await story.done("read_file", { path: "a" }, "one");
    expect(["duplicate_call", "loop_repeat"]).toContain(
      await story.outcome("read_file", { path: "a" }),
    );
  });

  test("warns of no progress after three calls, or the configured number", async () => {
    const text = templateText("t3").replace("no_progress_threshold: 3", "no_progress_threshold: 5");
    for (const [policy, quiet] of [[templatePath("t3"), 3] as const, [loaded(text), 5] as const]) {
      const story = await tell(policy);
      for (let i = 0; i < quiet; i++) {
        expect((await story.done("grep", { i }, "same")).warnings).toEqual([]);
      }
      const { warnings } = await story.propose("grep", { i: quiet });
      expect(warnings.map(({ reason }) => reason)).toEqual(["loop_no_progress"]);
    }
  });

  test("every template also loads under policy_engine", () => {
    for (const name of ["t2", "t3"] as const) {
      const nested = `policy_engine:\n${templateText(name).replaceAll(/^/gm, "  ")}`;
      expect(loaded(nested)).toEqual(loaded(templateText(name)));
    }
  });
});

describe("the proposal of S4 as a policy", () => {
  test("asks, gives options, waits for the user and ends, whatever was said wrongly in between", async () => {
    const story = await tell(templatePath("t4"));
    const write = { path: "game.py", content: "import pygame" };
    await story.done("write_file", write, "written");
    const levels: (number | undefined)[] = [];
    for (let i = 0; i < 2; i++) {
      levels.push((await story.propose("write_file", write)).refusal?.level);
    }
    const wrong = { assistantText: "Let me try writing the file again" };
    expect(await story.outcome("run", { command: "ls" }, wrong)).toBe("acknowledgement_required");
    for (let i = 0; i < 2; i++) {
      levels.push((await story.propose("write_file", write)).refusal?.level);
    }
    expect(levels).toEqual([1, 2, 3, 4]);
    expect(await story.outcome("run", { command: "ls" })).toBe("conversation_ended");
  });

  test("goes on once the model says what it will do differently", async () => {
    const story = await tell(templatePath("t4"));
    const write = { path: "game.py", content: "import pygame" };
    await story.done("write_file", write, "written");
    for (let i = 0; i < 2; i++) await story.propose("write_file", write);
    const right = { assistantText: "Instead, I will check if pygame is installed first" };
    expect(await story.outcome("run", { command: "pip show pygame" }, right)).toBe("allowed");
  });
});
