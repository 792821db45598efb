/** `callgate notify failed` and `retry`: webhooks that were given up. */
import { existsSync } from "node:fs";
import { type Delivery, DeliveryStore } from "../../adapters/lmdb/delivery-store.ts";
import type { NotifyEvent } from "../../notify/notify-event.ts";
import { notifyDirectoryOf } from "../../process/directory/notify-directory.ts";
import { EXIT_OK, type ExitCode, environmentError, usageError } from "../../process/exit-error.ts";
import { NO_BROKERS, openConfig } from "../../process/open-config.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { counted, printable } from "../output/text.ts";

export type FailedOptions = {
  readonly config: string | undefined;
  readonly dataDir: string | undefined;
  /** Id of a target; undefined: all of them. */
  readonly target: string | undefined;
  readonly json: boolean;
};

type DeadDelivery = Delivery<NotifyEvent>;

const TEXT_CHARACTERS = 60;

export async function listFailed(options: FailedOptions, terminal: Terminal): Promise<ExitCode> {
  return await withStore(options, async (_, dead) => {
    if (options.json) {
      await terminal.out.write(`${JSON.stringify({ failed: dead.map(plain) })}\n`);
      return;
    }
    if (dead.length === 0) {
      await terminal.out.write("every webhook arrived, or is still being tried\n");
      return;
    }
    const rows = dead.map(({ number, target, event, tries, dueAtMs, problem }) => [
      String(number),
      target,
      event.id,
      new Date(dueAtMs).toISOString(),
      String(tries),
      printable(problem ?? "", TEXT_CHARACTERS),
    ]);
    const titles = ["number", "target", "event", "given up", "tries", "why"];
    await terminal.out.write(textTable(titles, rows, terminal.out.style));
  });
}

/**
 * Lets deliveries be sent again, with all their tries; a notifier that runs sends them within a
 * second.
 * @param numbers as `failed` shows them; empty: all of them.
 */
export async function retryFailed(
  numbers: readonly string[],
  options: FailedOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  return await withStore(options, async (store, dead) => {
    const picked = numbers.length === 0 ? dead : numbers.map((number) => pick(dead, number));
    const retried = store.revive(picked, Date.now());
    const text = options.json
      ? JSON.stringify({ retried })
      : `${counted(retried, "webhook")} will be sent again by the notifier`;
    await terminal.out.write(`${text}\n`);
  });
}

async function withStore(
  options: FailedOptions,
  work: (store: DeliveryStore<NotifyEvent>, dead: readonly DeadDelivery[]) => Promise<void>,
): Promise<ExitCode> {
  const { config, dataDir, target } = options;
  const directory = notifyDirectoryOf(openConfig(config, [], NO_BROKERS), dataDir);
  // Opening would create it, and a mistyped path must not look like a notifier without failures.
  if (!existsSync(directory)) {
    throw environmentError(
      `\`${directory}\` does not exist: no notifier ran there; name its configuration (--config) or the data directory (--data-dir)`,
    );
  }
  const store = new DeliveryStore<NotifyEvent>(directory);
  try {
    const dead = store.listDead();
    const shown = target === undefined ? dead : dead.filter((one) => one.target === target);
    await work(store, shown);
  } finally {
    await store.close();
  }
  return EXIT_OK;
}

function pick(dead: readonly DeadDelivery[], number: string): DeadDelivery {
  const match = dead.find((one) => String(one.number) === number);
  if (match !== undefined) return match;
  throw usageError(
    `${number}: no webhook with this number failed; callgate notify failed lists them`,
  );
}

function plain({ number, target, event, tries, dueAtMs, problem }: DeadDelivery): object {
  return { number, target, event, tries, deadAtMs: dueAtMs, problem };
}
