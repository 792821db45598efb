/** What the demo's agent does, scene by scene. */
import { setTimeout as sleep } from "node:timers/promises";
import type { DemoAgent } from "./demo-agent.ts";
import type { SceneTitle } from "./view.ts";

export interface Scene extends SceneTitle {
  readonly play: (agent: DemoAgent, stage: Stage) => Promise<void>;
}

/** What a scene uses. */
export interface Stage {
  /** Prints a line between two calls. */
  readonly say: (text: string) => Promise<void>;
  /** Asks a person, or answers for them, and sends the answer to the gate. */
  readonly decide: (question: string, approvalId: string) => Promise<void>;
  /** Shows the message that the model gets for a refusal. */
  readonly showMessage: (message: string) => Promise<void>;
}

const REPEATS = 7;
const POLL_EVERY_MS = 350;

export const SCENES: readonly Scene[] = [
  {
    id: "demo-empty-document",
    title: "An agent is stuck and creates the same empty document seven times.",
    without: "seven empty documents",
    play: async (agent, stage) => {
      const args = { title: "Untitled", content: "" };
      for (let count = 0; count < REPEATS; count += 1) {
        const refused = await agent.call("create_document", args);
        if (count === 1 && refused !== undefined) await stage.showMessage(refused.message);
      }
    },
  },
  {
    id: "demo-no-arguments",
    title: "Once more with `{}`: no arguments at all, and a new id in each result.",
    without: "seven more documents; comparing results finds no repetition",
    play: async (agent) => {
      for (let count = 0; count < REPEATS; count += 1) await agent.call("create_document", {});
    },
  },
  {
    id: "demo-order",
    title: "It looks at an order twice, sends an invoice, then charges the card as well.",
    without: "the customer pays twice",
    play: async (agent) => {
      await agent.call("get_order", { order_id: "A-17" });
      await agent.call("get_order", { order_id: "A-17" });
      await agent.call("create_invoice", { order_id: "A-17" });
      await agent.call("charge_card", { order_id: "A-17" });
      await agent.call("charge_card", { order_id: "B-42" });
    },
  },
  {
    id: "demo-payment",
    title: "It sends one payment three times, each time written a little differently.",
    without: "75.00 EUR instead of 25.00",
    play: async (agent) => {
      await agent.call("pay", { to: "ann", amount: "25.00", currency: "EUR" });
      await agent.call("pay", { to: "ann", amount: 25, currency: "eur" });
      await agent.call("pay", { currency: " EUR", amount: "25.0", to: "Ann" });
    },
  },
  {
    id: "demo-job",
    title: "It waits for a job, and repairs a call that failed: honest work is not in the way.",
    without: "the same, but for the hurry",
    play: async (agent, stage) => {
      await agent.call("poll_export", { job: "export-1" });
      await agent.call("poll_export", { job: "export-1" });
      for (let count = 0; count < 2; count += 1) {
        await sleep(POLL_EVERY_MS);
        await agent.call("poll_export", { job: "export-1" });
      }
      await stage.say("and a page that cannot be published yet:");
      await agent.call("publish_page", { page: "home" });
      await agent.call("set_title", { page: "home", title: "Welcome" });
      await agent.call("publish_page", { page: "home" });
    },
  },
  {
    id: "demo-deletion",
    title: "It wants to delete a customer. The policy asks for a person first.",
    without: "the customer is gone, and nobody was asked",
    play: async (agent, stage) => {
      const args = { customer: "c-1029" };
      const held = await agent.call("delete_customer", args);
      if (held?.approvalId === undefined) return;
      await stage.decide("Delete customer c-1029?", held.approvalId);
      await agent.again("delete_customer", args);
    },
  },
];
