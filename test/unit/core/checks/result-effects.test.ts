// Effects on resources that only the result names: before the result is in, with it, and without
// it.
import { describe, expect, test } from "vitest";
import type { ResultRecorded } from "../../../../services/core/events.ts";
import type { PolicyDocument, ToolDocument } from "../../../../services/core/policy/document.ts";
import { stateFromText, stateText } from "../../../support/core/state-text.ts";
import { MINUTE, ofType, type Story, startStory } from "../../../support/decider-spec.ts";

const TOOLS: Readonly<Record<string, ToolDocument>> = {
  create_invoice: { effects: [{ resource: "invoice/{result.id}", kind: "create" }] },
  import_invoice: { effects: [{ resource: "invoice/{id}", kind: "create" }] },
  send_invoice: { effects: [{ resource: "invoice/{id}", kind: "send" }] },
  delete_invoice: { effects: [{ resource: "invoice/{id}", kind: "delete" }] },
  set_invoice: { effects: [{ resource: "invoice/{id}", kind: "update" }] },
  set_customer: { effects: [{ resource: "customer/{id}", kind: "update" }] },
  move_customer: { effects: [{ resource: "customer/{id}", kind: "transfer" }] },
  add_note: {
    effects: [
      { resource: "customer/{id}", kind: "update" },
      { resource: "customer/{id}/note/{result.note.id}", kind: "create" },
    ],
  },
  pair: {
    effects: [
      { resource: "left/{id}", kind: "update" },
      { resource: "right/{id}", kind: "update" },
    ],
  },
  get_invoice: { read_only: true, reads: ["invoice/{id}"] },
  find_invoice: { read_only: true, reads: ["invoice/{result.id}"] },
  list_invoices: { read_only: true },
  run_script: {},
};

const POLICY: PolicyDocument = { tool_schemas: TOOLS };
const ARGS = { amount: 5 };
const SEVEN = '{"id":7}';

function created(story: Story, output: string | null = SEVEN): ResultRecorded {
  const call = story.allowed("create_invoice", ARGS);
  return ofType(story.reported(call, { output }), "result_recorded");
}

function conflictOf(story: Story, tool: string, args: object = { id: 7 }) {
  const { refusal } = story.refused(tool, { ...args });
  expect(refusal.reason).toBe("side_effect_conflict");
  return refusal.conflict;
}

describe("once the result is in", () => {
  test("the effect counts as if it had been declared", () => {
    const story = startStory(POLICY);
    expect(created(story).effects).toEqual({
      resources: ["invoice/7"],
      exclusive: [
        {
          resource: "invoice/7",
          kind: "create",
          rule: "tool_schemas.create_invoice.effects[0]",
          ancestors: null,
          onFailure: "warn",
          tenantWide: false,
        },
      ],
    });
    expect(conflictOf(story, "send_invoice")).toEqual({
      resource: "invoice/7",
      path: ["create_invoice", "invoice/7", "send_invoice"],
    });
    story.allowed("send_invoice", { id: 8 });
  });

  test("a delete undoes the effect, and the same create may run again", () => {
    const story = startStory(POLICY);
    created(story);
    expect(story.reason("create_invoice", ARGS)).toBe("duplicate_call");
    story.done("set_customer", { id: 1 });
    expect(story.reason("create_invoice", ARGS)).toBe("duplicate_call");
    story.done("delete_invoice", { id: 8 });
    expect(story.reason("create_invoice", ARGS)).toBe("duplicate_call");
    story.done("delete_invoice", { id: 7 });
    const again = story.allowed("create_invoice", ARGS);
    expect(again.execution.decisionId).toBe(again.decisionId);
    story.reported(again, { output: SEVEN });
    story.done("delete_invoice", { id: 7 });
  });

  test("the effect belongs to the call that created it, also after a restart", () => {
    const story = startStory(POLICY);
    created(story);
    story.done("delete_invoice", { id: 7 });
    if (story.state !== undefined) story.state = stateFromText(stateText(story.state));
    story.allowed("create_invoice", ARGS);
  });

  test("only reads of the resource run again", () => {
    const story = startStory(POLICY);
    for (const id of [7, 8]) story.done("get_invoice", { id });
    created(story);
    story.allowed("get_invoice", { id: 7 });
    expect(story.refused("get_invoice", { id: 8 }).answered).not.toBeNull();
  });

  test("the resource has its ancestors, by path and by edges", () => {
    const story = startStory({
      ...POLICY,
      edges: { contains: [["customer/{id}", "invoice/{id}"]] },
    });
    story.reported(story.allowed("add_note", { id: 1 }), { output: '{"note":{"id":"a"}}' });
    expect(conflictOf(story, "move_customer", { id: 1 })?.path).toEqual([
      "add_note",
      "customer/1/note/a",
      "customer/1/note",
      "customer/1",
      "move_customer",
    ]);
    created(story);
    expect(conflictOf(story, "move_customer")?.path).toEqual([
      "create_invoice",
      "invoice/7",
      "customer/7",
      "move_customer",
    ]);
  });

  test("an alias may name a part of the result", () => {
    const story = startStory({
      aliases: [{ resource: "invoice/{id}", names: ["create_invoice.result.number"] }],
      tool_schemas: {
        create_invoice: { effects: [{ resource: "invoice/{id}", kind: "create" }] },
        send_invoice: TOOLS["send_invoice"] ?? {},
      },
    });
    created(story, '{"number":7}');
    conflictOf(story, "send_invoice");
  });

  test("a later effect that is certain stays the latest", () => {
    const story = startStory(POLICY);
    const slow = story.allowed("create_invoice", ARGS);
    story.after(MINUTE).done("delete_invoice", { id: 7 });
    story.reported(slow, { output: SEVEN });
    expect(conflictOf(story, "send_invoice")?.path[0]).toBe("delete_invoice");
    story.allowed("import_invoice", { id: 7 });
  });
});

describe("while the call is in flight", () => {
  test("the effect conflicts only with its prior call", () => {
    const story = startStory(POLICY);
    story.allowed("create_invoice", ARGS);
    expect(story.reason("create_invoice", ARGS)).toBe("duplicate_in_flight");
    story.allowed("create_invoice", { amount: 6 });
    story.allowed("send_invoice", { id: 7 });
  });

  test("every read runs, and no repeated write is excused", () => {
    const story = startStory(POLICY);
    story.done("get_invoice", { id: 8 });
    story.done("set_customer", { id: 1 });
    story.allowed("create_invoice", ARGS);
    story.allowed("get_invoice", { id: 8 });
    expect(story.reason("set_customer", { id: 1 })).toBe("duplicate_call");
  });

  test("resources that arguments name count at once", () => {
    const story = startStory(POLICY);
    story.done("set_customer", { id: 1 });
    story.done("set_customer", { id: 2 });
    story.allowed("add_note", { id: 1 });
    story.allowed("set_customer", { id: 1 });
    expect(story.reason("set_customer", { id: 2 })).toBe("duplicate_call");
  });

  test("a held call blocks only its prior call", () => {
    const tiers = [{ name: "ask", pattern: "create_*", action: "hitl" }] as const;
    const story = startStory({ ...POLICY, authorization: { tiers } });
    const hold = story.held("create_invoice", ARGS);
    story.allowed("send_invoice", { id: 8 });
    const call = ofType(story.approved(hold), "allowed");
    story.reported(call, { output: SEVEN });
    conflictOf(story, "send_invoice");
  });
});

describe("a result without the name", () => {
  test.each([
    ["without the part", "{}"],
    ["of another kind", "done"],
    ["cut off", '{"id":7'],
    ["without an output", null],
    ["with a name that is too long", `{"id":"${"x".repeat(513)}"}`],
  ])("is recorded, and the call may have changed anything: %s", (_, output) => {
    const story = startStory(POLICY);
    story.done("get_invoice", { id: 8 });
    expect(created(story, output).effects).toEqual({ resources: null, exclusive: [] });
    story.allowed("get_invoice", { id: 8 });
    expect(story.reason("create_invoice", ARGS)).toBe("duplicate_call");
    // Nobody can tell that this invoice was the deleted one.
    story.done("delete_invoice", { id: 7 });
    expect(story.reason("create_invoice", ARGS)).toBe("duplicate_call");
    story.done("run_script", {});
    story.allowed("create_invoice", ARGS);
  });

  test("lets a call whose effect is not exclusive run again after any write", () => {
    const effects = [{ resource: "list/{result.id}", kind: "update" }] as const;
    const story = startStory({ tool_schemas: { ...TOOLS, sort: { effects } } });
    story.done("sort", {}, "done");
    expect(story.reason("sort", {})).toBe("duplicate_call");
    story.done("delete_invoice", { id: 7 });
    story.allowed("sort", {});
  });

  test("counts as such where the output was cut", () => {
    const story = startStory(POLICY);
    const call = story.allowed("create_invoice", ARGS);
    const cut = ofType(story.reported(call, { output: SEVEN, outputBytes: 99 }), "result_recorded");
    expect(cut.effects).toEqual({ resources: null, exclusive: [] });
  });

  test("keeps the effects that it does name", () => {
    const story = startStory({
      tool_schemas: {
        ...TOOLS,
        copy: {
          effects: [
            { resource: "invoice/{result.id}", kind: "create" },
            { resource: "invoice/{result.other}", kind: "create" },
          ],
        },
      },
    });
    story.done("copy", {}, SEVEN);
    conflictOf(story, "send_invoice");
  });

  test("matters for no call that had no effect or was not executed", () => {
    const story = startStory(POLICY);
    const call = story.allowed("create_invoice", ARGS);
    const report = { status: "failed", effect: "none", output: SEVEN } as const;
    expect(story.reported(call, report)).toMatchObject({ effects: null });
    const other = story.allowed("create_invoice", { amount: 6 });
    expect(story.reported(other, { status: "not_executed", output: SEVEN })).toMatchObject({
      effects: null,
    });
    story.allowed("send_invoice", { id: 7 });
  });

  test("is not assumed for a failure that may have taken effect, or for a late report", () => {
    const story = startStory(POLICY);
    const call = story.allowed("create_invoice", ARGS);
    const error = { code: "503", message: "busy", retryable: null };
    story.reported(call, { status: "failed", error, output: SEVEN });
    expect(story.allowed("send_invoice", { id: 7 }).notices.warnings).toMatchObject([
      { reason: "side_effect_conflict" },
    ]);
    const late = story.allowed("create_invoice", { amount: 6 });
    story.reported(late, { status: "unknown" });
    expect(story.reason("create_invoice", { amount: 6 })).toBe("outcome_unknown");
    story.reported(late, { output: '{"id":9}' });
    conflictOf(story, "send_invoice", { id: 9 });
  });

  test("leaves the call as one that may have changed anything where a person settles it as succeeded", () => {
    const story = startStory(POLICY);
    story.done("get_invoice", { id: 8 });
    const call = story.allowed("create_invoice", ARGS);
    story.reported(call, { status: "unknown" });
    story.reconciled(call, "succeeded");
    story.allowed("get_invoice", { id: 8 });
    expect(story.reason("create_invoice", ARGS)).toBe("duplicate_call");
  });
});

test("a missing argument refuses the call at once", () => {
  expect(startStory(POLICY).reason("add_note", {})).toBe("invalid_arguments");
});

test("an update that the result names is not exclusive, and is remembered", () => {
  const story = startStory({
    tool_schemas: {
      ...TOOLS,
      set_latest: { effects: [{ resource: "invoice/{result.id}", kind: "update" }] },
    },
  });
  story.done("set_invoice", { id: 7 });
  story.done("set_invoice", { id: 8 });
  story.done("set_latest", {}, SEVEN);
  story.allowed("set_invoice", { id: 7 });
  expect(story.reason("set_invoice", { id: 8 })).toBe("duplicate_call");
});

test("a read whose resource only its result names depends on every write", () => {
  const story = startStory(POLICY);
  story.done("find_invoice", {}, SEVEN);
  expect(story.refused("find_invoice").answered).not.toBeNull();
  story.done("set_customer", { id: 1 });
  story.allowed("find_invoice");
});

test("a name for which there is no room leaves the call with unknown resources", () => {
  const story = startStory(POLICY);
  const [first, second] = [1, 2].map((amount) => story.allowed("create_invoice", { amount }));
  for (let id = 0; id < 1_023; id += 1) story.done("pair", { id });
  story.done("set_customer", { id: 1 });
  const reportId = (call: typeof first, id: number) =>
    story.reported(call as NonNullable<typeof first>, { output: `{"id":${id}}` });
  expect(reportId(first, 7)).toMatchObject({ effects: { resources: ["invoice/7"] } });
  expect(reportId(second, 8)).toMatchObject({ effects: { resources: null } });
});
