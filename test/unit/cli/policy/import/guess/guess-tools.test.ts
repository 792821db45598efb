import { describe, expect, it } from "vitest";
import type { ToolGuess } from "../../../../../../services/cli/policy/import/guess/guess-tool.ts";
import { guessTools } from "../../../../../../services/cli/policy/import/guess/guess-tools.ts";
import type { ToolDefinition } from "../../../../../../services/cli/policy/import/tool-definition.ts";

const text = { type: "string" };

function definition(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  const unsaid = { readOnly: null, risky: false, effects: [], method: null, description: "" };
  return { ...unsaid, name, schema: undefined, ...more };
}

function guess(name: string, more: Partial<ToolDefinition> = {}): ToolGuess {
  const guessed = guessTools([definition(name, more)]).get(name);
  if (guessed === undefined) throw new Error(`nothing was guessed of ${name}`);
  return guessed;
}

/** A schema with these required arguments. */
function needs(properties: Readonly<Record<string, object>>): object {
  return { type: "object", properties, required: Object.keys(properties) };
}

describe("access", () => {
  it.each([
    "get_order",
    "listOrders",
    "maps_reverse_geocode",
    "core_memory_retrieve_all",
    "message_get_login_status",
    "file_read",
    "get_job_run",
    "can_send_mms",
    "crawl_status",
    "ask_user",
  ])("%s reads", (name) => {
    expect(guess(name).access.isRead).toBe(true);
  });

  it.each([
    "create_order",
    "get_or_create_cart",
    "mark_message_read",
    "fetch_and_delete",
    "request_leave",
    "run_payroll",
    "search_feedback",
    "find_and_replace",
    "checkout",
    "check_out",
    "pop_message",
    "monitor_create",
    "top_up_card",
    "reverse_journal",
    "frobnicate",
  ])("%s does not read", (name) => {
    expect(guess(name).access.isRead).toBe(false);
  });

  it.each([
    ["widget", "Returns all widgets.", true],
    ["widget", "Notion | Retrieve a widget", true],
    ["widget", "Changes a widget.", false],
    ["widgets", "List, select or close widgets.", false],
    ["get_mail", "Returns unread mail. All of it is marked as read.", false],
    ["get_next", "Gets the next job and deletes it.", false],
    ["find_cart", "Finds the cart; creates one if there is none.", false],
    ["list_comments", "Comments of a post, newest first.", true],
    ["get_ride", "Book a cab to any place.", false],
    ["update_clock", "Read-only: does not change anything.", false],
  ])("of %s, which says `%s`: %s", (name, description, isRead) => {
    expect(guess(name, { description }).access.isRead).toBe(isRead);
  });

  it("asks about a name that reads with a description that writes", () => {
    const { access } = guess("get_mail", { description: "Gets mail and deletes it." });
    expect(access).toMatchObject({ isRead: false, confidence: "unsure" });
    expect(access.reason).toContain("and deletes");
  });

  it("doubts a tool that chooses among actions, and a download with a path", () => {
    const action = { type: "string", enum: ["list", "delete"] };
    expect(guess("view_tabs", { schema: needs({ action }) }).access.isRead).toBe(false);
    expect(guess("download_file", { schema: needs({ id: text }) }).access.isRead).toBe(true);
    expect(guess("download_file", { schema: needs({ path: text }) }).access.isRead).toBe(false);
  });

  it.each([
    ["get", "orderReport", {}, true],
    ["get", "confirmOrder", {}, false],
    ["get", "report", { description: "Builds it and sends it by mail." }, false],
    ["post", "searchOrders", {}, true],
    ["delete", "getOrder", {}, false],
  ])("of HTTP %s %s: %s", (method, name, more, isRead) => {
    expect(guess(name, { method, ...more }).access.isRead).toBe(isRead);
  });
});

describe("effects", () => {
  it("share one resource among tools that act on one thing", () => {
    const tools = guessTools([
      definition("pay_invoice", { schema: needs({ invoice_id: text, amount: text }) }),
      definition("void_invoice", { schema: needs({ invoice_id: text }) }),
      definition("update_invoice", { schema: needs({ invoice_id: text, due: text }) }),
    ]);
    const resources = [...tools.values()].map(({ entry }) => entry.effects?.map((e) => e.resource));
    expect(resources).toEqual([
      ["payment/{invoice_id}/{amount}", "invoice/{invoice_id}"],
      ["invoice/{invoice_id}"],
      ["invoice/{invoice_id}"],
    ]);
  });

  it("are exclusive where one thing is paid, not where an amount is moved", () => {
    const paid = guess("refund_order", { schema: needs({ order_id: text, amount: text }) });
    expect(paid.entry.effects?.[0]).toMatchObject({ kind: "charge", exclusive: true });
    const moved = guess("transfer", {
      schema: needs({ from_account: text, to_account: text, amount: text }),
    });
    expect(moved.entry.effects?.[0]).toMatchObject({ kind: "charge", exclusive: false });
  });

  it("name where a thing is first, so that tools with other orders of arguments share it", () => {
    const tools = guessTools([
      definition("create_or_update_file", { schema: needs({ path: text, branch: text }) }),
      definition("delete_file", { schema: needs({ branch: text, path: text }) }),
    ]);
    const resources = [...tools.values()].map(({ entry }) => entry.effects?.[0]?.resource);
    expect(resources).toEqual(["file/{branch}/{path}", "file/{branch}/{path}"]);
  });

  it("name each element of a list", () => {
    const ids = { type: "array", items: text };
    expect(guess("delete_emails", { schema: needs({ email_ids: ids }) }).entry.effects).toEqual([
      { resource: "email/{email_ids[]}", kind: "delete", exclusive: true },
    ]);
  });

  it("take no title for an id", () => {
    const made = guess("create_issue", { schema: needs({ title: text }) });
    expect(made.entry.effects?.[0]?.resource).toBe("new_issue/{title}");
  });

  it("bring paths in lists into the form of other paths", () => {
    const items = { type: "object", properties: { path: text }, required: ["path"] };
    const files = { type: "array", items };
    const { normalizers } = guess("push_files", { schema: needs({ files }) }).entry;
    expect(Object.keys(normalizers ?? {})).toEqual(["files[].path"]);
  });

  it("let a thing be made again after it was deleted by its id", () => {
    const tools = guessTools([
      definition("create_event", { schema: needs({ title: text, start: text }) }),
      definition("delete_event", { schema: needs({ event_id: text }) }),
    ]);
    for (const { entry } of tools.values()) {
      expect(entry.effects?.map(({ resource }) => resource)).toContain("event");
    }
  });

  it("are not guessed of a tool that runs whatever it is given", () => {
    expect(guess("run_script", { schema: needs({ path: text }) }).entry.effects).toBeUndefined();
  });
});

describe("keys and identities", () => {
  it.each([
    ["charge_card", { order_id: text, idempotency_key: text }, "idempotency_key"],
    ["deploy", { service: text, request_id: text }, "request_id"],
    ["approve_request", { request_id: text }, undefined],
    [
      "pay",
      { order_id: text, token: { type: "string", description: "Same for retries: idempotent." } },
      "token",
    ],
    ["send", { to: text, body: { type: "string", description: "Safe for retries." } }, undefined],
  ])("of %s %j: the key is %s", (name, properties, key) => {
    expect(guess(name, { schema: needs(properties) }).entry.idempotency_argument).toBe(key);
  });

  it("leave a reason out where the thing that is paid says it all", () => {
    const schema = needs({ order_id: text, amount: text, reason: text });
    expect(guess("refund_order", { schema }).entry.canonical_fields).toEqual([
      "order_id",
      "amount",
    ]);
  });

  it("count an increment again in a later turn", () => {
    const schema = needs({ pool: text, count: { type: "integer" } });
    expect(guess("add_nodes", { schema }).entry.scope).toBe("turn");
  });

  it("put addresses, currencies and paths into one form", () => {
    const schema = needs({ to: text, subject: text, body: text });
    const chains = guess("send_email", { schema }).entry.normalizers ?? {};
    expect(Object.keys(chains)).toEqual(["to", "subject"]);
    expect(chains["to"]?.map(({ name }) => name)).toEqual(["trim", "to_lower"]);
  });
});

describe("dangers", () => {
  it.each([
    ["delete_database", {}, "destroys"],
    ["purge_queue", {}, "destroys"],
    ["delete_note", { description: "Permanently deletes a note." }, "destroys"],
    ["delete_note", {}, "deletes"],
    ["transfer_money", {}, "money"],
    ["issue_refund", {}, "money"],
    ["send_email", {}, "messages"],
    ["assign_role", {}, "access"],
    ["update_note", {}, null],
    ["get_account", {}, null],
  ])("of %s %j: %s", (name, more, danger) => {
    expect(guess(name, more).danger).toBe(danger);
  });
});
