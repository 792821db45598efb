/**
 * Defect: While a coordinator still writes the end of the previous transaction, it answers
 * CONCURRENT_TRANSACTIONS and does nothing. kafkajs repeats a request to add partitions only after
 * a doubling back-off and a refresh of all metadata. It does not repeat a request to add offsets or
 * to end a transaction.
 * Upstream: https://github.com/tulios/kafkajs/issues/1315 and
 * https://github.com/tulios/kafkajs/issues/1068
 * Patch: The first request of a transaction is repeated until the coordinator accepts it; the
 * second waits for the first. The wait is for one producer id and epoch, so no request waits for a
 * producer that was discarded. A request to end a transaction gets this answer while its id is
 * taken over; it is repeated, and then learns whether the producer was fenced.
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
/** A coordinator needs milliseconds to end a transaction; a longer wait must begin anew. */
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
    // The other request reports its own failure; this one may still succeed.
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
