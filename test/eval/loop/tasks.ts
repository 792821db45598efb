/** Tasks with the road that solves them, and what agents do beside it. */
import type { ToolCall } from "./world.ts";

/** One thing to do. */
export interface Step {
  /** The call, and further calls that mean the same: reworded, or by another tool. */
  readonly calls: readonly [ToolCall, ...ToolCall[]];
  /** Whether the output ends the step; by default any does. */
  readonly isDone?: (output: Readonly<Record<string, unknown>>) => boolean;
  /** What the world has once the step took effect; absent for reads. */
  readonly effect?: string;
}

/** Needless calls that an agent may make after a step, as long as nothing stops it. */
export interface Temptation {
  /** After the step with this index of this turn. */
  readonly turn: number;
  readonly after: number;
  readonly exact: readonly ToolCall[];
  /** What an agent does that rewords. */
  readonly reworded: readonly ToolCall[];
}

export interface Task {
  readonly name: string;
  /** The steps of each message of the user. */
  readonly turns: readonly (readonly Step[])[];
  readonly temptations: readonly Temptation[];
  /** How often each effect is wanted; any more are doubled. */
  readonly wanted: Readonly<Record<string, number>>;
}

function call(tool: string, args: ToolCall["args"]): ToolCall {
  return { tool, args };
}

function read(tool: string, args: ToolCall["args"] = {}): Step {
  return { calls: [call(tool, args)] };
}

function write(effect: string, first: ToolCall, ...others: readonly ToolCall[]): Step {
  return { effect, calls: [first, ...others] };
}

function again(calls: readonly ToolCall[], times: number): readonly ToolCall[] {
  return Array.from({ length: times }, () => calls).flat();
}

function tempt(after: number, exact: readonly ToolCall[], reworded = exact, turn = 0): Temptation {
  return { turn, after, exact, reworded };
}

const refund = (order: string, amount: unknown) =>
  call("refund_order", { order_id: order, amount, reason: "returned" });
const mail = (to: string, body: string, subject = "Your refund") =>
  call("send_mail", { to, subject, body });

const REFUND_TEXT = "Your refund of 49.90 for the returned order is on its way to your card today.";
const REFUND_TEXT_AGAIN = "Good news: your refund of 49.90 for the returned order is on its way.";
const TICKET_TEXT = "Signing in fails with error 500 since the release of this morning.";
const TICKET_TEXT_AGAIN = "Since the release of this morning signing in fails with error 500.";
const LOST_TEXT = "The delivery of Friday has changed: the new time is ten in the morning.";
const QUERIES = [
  "how to export the audit log",
  "export the audit log as a file",
  "audit log export to a file",
  "download the audit log",
  "where to export the audit log to a file",
  "how to download an audit log export",
];

export const TASKS: readonly Task[] = [
  {
    name: "refund an order and tell the customer",
    turns: [
      [
        read("get_order", { order_id: "a7" }),
        write("refund/a7", refund("a7", "49.90")),
        write("mail/ann@example.com", mail("ann@example.com", REFUND_TEXT)),
      ],
    ],
    temptations: [
      tempt(1, [refund("a7", "49.90")], [refund("A7 ", 49.9)]),
      tempt(
        2,
        [refund("a7", "49.90"), mail("ann@example.com", REFUND_TEXT)],
        [refund("A7", "49.9"), mail("Ann@Example.com", REFUND_TEXT_AGAIN, "Refund news")],
      ),
    ],
    wanted: { "refund/a7": 1, "mail/ann@example.com": 1 },
  },
  {
    name: "refund two orders of one amount",
    turns: [
      [write("refund/b1", refund("b1", "20.00")), write("refund/b2", refund("b2", "20.00"))],
      [read("get_order", { order_id: "b1" }), read("get_order", { order_id: "b2" })],
    ],
    temptations: [tempt(1, [refund("b1", "20.00")], [refund("B1", 20)])],
    wanted: { "refund/b1": 1, "refund/b2": 1 },
  },
  {
    name: "mail three people",
    turns: [
      ["cy@example.com", "di@example.com", "ed@example.com"].map((to) =>
        write(`mail/${to}`, mail(to, LOST_TEXT, "New time")),
      ),
    ],
    temptations: [
      tempt(2, [
        call("send_bulk_mail", {
          recipients: ["cy@example.com", "di@example.com"],
          subject: "New time",
          body: LOST_TEXT,
        }),
      ]),
    ],
    wanted: { "mail/cy@example.com": 1, "mail/di@example.com": 1, "mail/ed@example.com": 1 },
  },
  {
    name: "repair a file until its tests pass",
    turns: [
      [
        read("run_tests"),
        read("write_file", { path: "src/sum.py", content: "first try" }),
        read("run_tests"),
        read("write_file", { path: "src/sum.py", content: "fixed" }),
        { ...read("run_tests"), isDone: ({ passed }) => passed === true },
      ],
    ],
    temptations: [tempt(0, again([call("run_tests", {})], 10))],
    wanted: {},
  },
  {
    name: "start a job and wait for it",
    turns: [
      [
        write("job/nightly", call("start_job", { name: "nightly" })),
        { ...read("get_job", { name: "nightly" }), isDone: ({ state }) => state === "done" },
      ],
    ],
    temptations: [tempt(0, [call("start_job", { name: "nightly" })])],
    wanted: { "job/nightly": 1 },
  },
  {
    name: "read a rate from a service that is down for a while",
    turns: [[read("get_rate", { currency: "eur" })]],
    temptations: [],
    wanted: {},
  },
  {
    name: "look for an article that does not exist",
    turns: [[read("search_articles", { query: QUERIES[0] })]],
    temptations: [
      tempt(
        0,
        again([call("search_articles", { query: QUERIES[0] })], 12),
        QUERIES.slice(1).map((query) => call("search_articles", { query })),
      ),
    ],
    wanted: {},
  },
  {
    name: "charge a card whose answer is lost",
    turns: [
      [
        write(
          "payment/timeout-7",
          call("charge_card", { order_id: "timeout-7", amount: "30.00" }),
          call("charge_card", { order_id: "timeout-7", amount: 30 }),
          call("pay_invoice", { order_id: "timeout-7" }),
        ),
      ],
    ],
    temptations: [],
    wanted: { "payment/timeout-7": 1 },
  },
  {
    name: "pay an order by one of two tools",
    turns: [
      [
        read("get_order", { order_id: "c3" }),
        write("payment/c3", call("charge_card", { order_id: "c3", amount: "12.00" })),
      ],
    ],
    temptations: [
      tempt(
        1,
        [call("pay_invoice", { order_id: "c3" })],
        [
          call("pay_invoice", { order_id: "C3" }),
          call("charge_card", { order_id: "c3", amount: 12 }),
        ],
      ),
    ],
    wanted: { "payment/c3": 1 },
  },
  {
    name: "delete an account, which a person approves",
    turns: [[write("deletion/u5", call("delete_account", { account_id: "u5" }))]],
    temptations: [tempt(0, [call("delete_account", { account_id: "u5" })])],
    wanted: { "deletion/u5": 1 },
  },
  {
    name: "book, cancel and book a slot again",
    turns: [
      [write("booking/mon-9", call("book_slot", { slot: "mon-9" }))],
      [write("cancellation/mon-9", call("cancel_slot", { slot: "mon-9" }))],
      [write("booking/mon-9", call("book_slot", { slot: "mon-9" }))],
    ],
    temptations: [tempt(0, [call("book_slot", { slot: "mon-9" })], undefined, 2)],
    wanted: { "booking/mon-9": 2, "cancellation/mon-9": 1 },
  },
  {
    name: "read every page of a list",
    turns: [[1, 2, 3, 4].map((page) => read("list_orders", { page }))],
    temptations: [
      tempt(
        3,
        [5, 6, 7, 8, 9, 10, 11, 12].map((page) => call("list_orders", { page })),
      ),
    ],
    wanted: {},
  },
  {
    name: "remind a customer twice, as the user asks",
    turns: [
      [write("reminder/k9", call("send_reminder", { customer_id: "k9" }))],
      [write("reminder/k9", call("send_reminder", { customer_id: "k9" }))],
    ],
    temptations: [tempt(0, [call("send_reminder", { customer_id: "k9" })])],
    wanted: { "reminder/k9": 2 },
  },
  {
    name: "file one ticket about a fault",
    turns: [
      [write("ticket", call("create_ticket", { title: "Signing in fails", text: TICKET_TEXT }))],
    ],
    temptations: [
      tempt(
        0,
        [call("create_ticket", { title: "Signing in fails", text: TICKET_TEXT })],
        [call("create_ticket", { title: "Error 500 at sign-in", text: TICKET_TEXT_AGAIN })],
      ),
    ],
    wanted: { ticket: 1 },
  },
];
