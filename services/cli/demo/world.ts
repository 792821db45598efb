/** What the demo's tools change: an in-memory company, whose effects can be counted. */

export interface World {
  readonly documents: string[];
  readonly bills: string[];
  readonly payments: string[];
  readonly deletions: string[];
}

export interface WorldTools {
  readonly create_document: (args: {
    readonly title?: string;
    readonly content?: string;
  }) => object;
  readonly get_order: (args: { readonly order_id: string }) => object;
  readonly create_invoice: (args: Bill) => object;
  readonly charge_card: (args: Bill) => object;
  readonly pay: (args: Payment) => object;
  readonly poll_export: (args: { readonly job: string }) => object;
  readonly set_title: (args: { readonly page: string; readonly title: string }) => object;
  readonly publish_page: (args: { readonly page: string }) => object;
  readonly delete_customer: (args: { readonly customer: string }) => object;
}

interface Bill {
  readonly order_id: string;
}

interface Payment {
  readonly to: string;
  readonly amount: string | number;
  readonly currency: string;
}

const EXPORT_STEPS = ["40 %", "80 %", "done"];

/** Calls `ran` before a tool acts, so that the caller can tell a run from an answer. */
export function createWorld(onRun: () => void): {
  readonly world: World;
  readonly tools: WorldTools;
} {
  const world: World = { documents: [], bills: [], payments: [], deletions: [] };
  const titles = new Map<string, string>();
  let polls = 0;
  const tools: WorldTools = {
    create_document: () => {
      onRun();
      // Each result has a new id, so comparing outputs could not detect the repetition.
      const id = `doc-${world.documents.length + 1}`;
      world.documents.push(id);
      return { id };
    },
    get_order: () => {
      onRun();
      return { total: "49.90" };
    },
    create_invoice: ({ order_id }) => {
      onRun();
      world.bills.push(order_id);
      return { invoice: `inv-${order_id}` };
    },
    charge_card: ({ order_id }) => {
      onRun();
      world.bills.push(order_id);
      return { charged: order_id };
    },
    pay: ({ to, amount }) => {
      onRun();
      world.payments.push(to);
      return { sent: String(amount) };
    },
    poll_export: () => {
      onRun();
      const progress = EXPORT_STEPS[polls] ?? "done";
      polls += 1;
      return { progress };
    },
    set_title: ({ page, title }) => {
      onRun();
      titles.set(page, title);
      return { page, title };
    },
    publish_page: ({ page }) => {
      onRun();
      if (!titles.has(page)) throw new Error("the page has no title");
      return { page, published: true };
    },
    delete_customer: ({ customer }) => {
      onRun();
      world.deletions.push(customer);
      return { deleted: customer };
    },
  };
  return { world, tools };
}
