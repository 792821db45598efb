/**
 * Defect: While the coordinator writes the end of the transaction before, it answers
 * CONCURRENT_TRANSACTIONS: nothing happened. kafkajs asks again for partitions after a back-off that
 * doubles and with all metadata fetched anew, and does not ask again for offsets or for the end.
 * Upstream: https://github.com/tulios/kafkajs/issues/1315 and https://github.com/tulios/kafkajs/issues/1068
 * Patch: The first request of a transaction asks again until it is let in, and the other one waits for it.
 * Nobody waits for a producer that was thrown away. The end of a transaction gets that answer while its
 * id is taken over; it asks again and learns whether it was fenced.
 */
type Request = {
  readonly transactionalId: string;
  readonly producerId: { toString(): string };
  readonly producerEpoch: number;
};
type Add = (this: object, request: Request) => Promise<unknown>;
type Broker = { addPartitionsToTxn: Add; addOffsetsToTxn: Add; endTxn: Add };

const CONCURRENT = "CONCURRENT_TRANSACTIONS";
const PAUSE_MS_MIN = 1;
const PAUSE_MS_MAX = 4;
/** The coordinator finishes what a transaction left in milliseconds; who waits longer must begin anew. */
const WAIT_MS_MAX = 5_000;

export function waitForTransactionBefore(broker: { readonly prototype: Broker }): void {
  const asking = new Map<string, Promise<unknown>>();
  const { prototype } = broker;
  prototype.addPartitionsToTxn = letIn(asking, prototype.addPartitionsToTxn);
  prototype.addOffsetsToTxn = letIn(asking, prototype.addOffsetsToTxn);
  const { endTxn } = prototype;
  prototype.endTxn = function endWhenLetIn(this: object, request: Request): Promise<unknown> {
    return askUntilLetIn(() => endTxn.call(this, request));
  };
}

function letIn(asking: Map<string, Promise<unknown>>, add: Add): Add {
  return async function addWhenLetIn(this: object, request: Request) {
    const { transactionalId, producerId, producerEpoch } = request;
    const id = `${producerId} ${producerEpoch} ${transactionalId}`;
    // The other's failure is told to the other; ours may go well.
    await asking.get(id)?.catch(() => undefined);
    const mine = askUntilLetIn(() => add.call(this, request));
    asking.set(id, mine);
    try {
      return await mine;
    } finally {
      if (asking.get(id) === mine) asking.delete(id);
    }
  };
}

async function askUntilLetIn(ask: () => Promise<unknown>): Promise<unknown> {
  const untilMs = performance.now() + WAIT_MS_MAX;
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs + 1, PAUSE_MS_MAX)) {
    try {
      return await ask();
    } catch (error) {
      const isConcurrent = error instanceof Error && Reflect.get(error, "type") === CONCURRENT;
      if (!isConcurrent || performance.now() >= untilMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
