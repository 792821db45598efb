/** A small world that the tools act on. It knows what really happened, whatever the agent believes. */

export interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** `unknown`: the call may have taken effect, and its answer never arrived. */
export type Outcome =
  | { readonly status: "succeeded"; readonly output: unknown }
  | { readonly status: "failed"; readonly message: string; readonly code: string }
  | { readonly status: "unknown" };

export const SECOND_MS = 1_000;
/** Pauses between two steps of a model, and until a person answers. */
export const THINKING_MS = 2 * SECOND_MS;
export const PERSON_MS = 300 * SECOND_MS;
const START_MS = Date.UTC(2026, 0, 5, 9);
const CALL_MS = 500;
const JOB_MS = 75 * SECOND_MS;
const OUTAGE_MS = 150 * SECOND_MS;
const PAGES = 4;
const ORDERS_IN_PAGE = 3;
/** The order whose first payment gets no answer. */
const ANSWER_LOST = "timeout-7";

export class World {
  nowMs = START_MS;
  /** Side effects in their order, each as the resource that it changed. */
  readonly effects: string[] = [];
  readonly #startedJobs = new Map<string, number>();
  #fileText = "broken";
  #reads = 0;

  count(resource: string): number {
    return this.effects.filter((effect) => effect === resource).length;
  }

  run({ tool, args }: ToolCall): Outcome {
    this.nowMs += CALL_MS;
    const handler = HANDLERS[tool];
    if (handler === undefined) return failed(`there is no tool ${tool}`, "404");
    return handler(this, args);
  }

  change(resource: string): void {
    this.effects.push(resource);
  }

  writeFile(text: string): Outcome {
    this.#fileText = text;
    return succeeded({ written: text.length });
  }

  runTests(): Outcome {
    const passed = this.#fileText.includes("fixed");
    return succeeded({ passed, failures: passed ? 0 : 1, took_ms: 800 + this.#nextRead() });
  }

  startJob(name: string): Outcome {
    this.change(`job/${name}`);
    this.#startedJobs.set(name, this.nowMs);
    return succeeded({ job: name, state: "queued" });
  }

  jobState(name: string): Outcome {
    const started = this.#startedJobs.get(name);
    if (started === undefined) return failed(`there is no job ${name}`, "404");
    const isDone = this.nowMs - started >= JOB_MS;
    return succeeded({ job: name, state: isDone ? "done" : "running", request_id: this.#id() });
  }

  rateOf(currency: string): Outcome {
    if (this.nowMs - START_MS < OUTAGE_MS) return failed("503 Service Unavailable", "503");
    return succeeded({ currency, rate: "1.0842" });
  }

  payCard(order: string): Outcome {
    this.change(`payment/${order}`);
    const isLost = order === ANSWER_LOST && this.count(`payment/${order}`) === 1;
    return isLost ? { status: "unknown" } : succeeded({ receipt: this.#id() });
  }

  #id(): string {
    return `req_${String(this.#nextRead()).padStart(8, "0")}`;
  }

  #nextRead(): number {
    this.#reads += 1;
    return this.#reads;
  }
}

function succeeded(output: unknown): Outcome {
  return { status: "succeeded", output };
}

function failed(message: string, code: string): Outcome {
  return { status: "failed", message, code };
}

type Args = ToolCall["args"];

const textOf = (args: Args, name: string): string => String(args[name]).trim().toLowerCase();

function changeOnce(world: World, resource: string): Outcome {
  world.change(resource);
  return succeeded({ ok: true });
}

const HANDLERS: Readonly<Record<string, (world: World, args: Args) => Outcome>> = {
  get_order: (world, args) => {
    const order = textOf(args, "order_id");
    const refunded = world.count(`refund/${order}`) > 0;
    const paid = world.count(`payment/${order}`) > 0;
    return succeeded({ id: order, total: "49.90", refunded, paid });
  },
  refund_order: (world, args) => changeOnce(world, `refund/${textOf(args, "order_id")}`),
  send_mail: (world, args) => changeOnce(world, `mail/${textOf(args, "to")}`),
  send_bulk_mail: (world, args) => {
    for (const to of args["recipients"] as readonly string[]) {
      world.change(`mail/${to.trim().toLowerCase()}`);
    }
    return succeeded({ ok: true });
  },
  write_file: (world, args) => world.writeFile(String(args["content"])),
  run_tests: (world) => world.runTests(),
  start_job: (world, args) => world.startJob(textOf(args, "name")),
  get_job: (world, args) => world.jobState(textOf(args, "name")),
  get_rate: (world, args) => world.rateOf(textOf(args, "currency")),
  search_articles: () => succeeded({ articles: [] }),
  charge_card: (world, args) => world.payCard(textOf(args, "order_id")),
  pay_invoice: (world, args) => world.payCard(textOf(args, "order_id")),
  delete_account: (world, args) => changeOnce(world, `deletion/${textOf(args, "account_id")}`),
  book_slot: (world, args) => changeOnce(world, `booking/${textOf(args, "slot")}`),
  cancel_slot: (world, args) => changeOnce(world, `cancellation/${textOf(args, "slot")}`),
  list_orders: (_, args) => {
    const page = Number(args["page"]);
    const first = (page - 1) * ORDERS_IN_PAGE + 1;
    const ids = Array.from({ length: page <= PAGES ? ORDERS_IN_PAGE : 0 }, (__, at) => first + at);
    return succeeded({ page, orders: ids });
  },
  send_reminder: (world, args) => changeOnce(world, `reminder/${textOf(args, "customer_id")}`),
  create_ticket: (world) => changeOnce(world, "ticket"),
};
