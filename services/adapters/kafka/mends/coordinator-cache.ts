type Broker = { isConnected(): boolean };
type Send = (this: Broker, request: unknown) => Promise<unknown>;
type Look = { readonly groupId: string; readonly coordinatorType?: number };
type Cluster = { findGroupCoordinator(look: Look): Promise<Broker> };
type Known = { readonly broker: Broker; readonly faults: number };

/** Says nothing against the coordinator: it answered as one. */
const HARMLESS = "CONCURRENT_TRANSACTIONS";

/**
 * kafkajs looks its coordinators up anew for each request, four times in a transaction: four of about
 * nine round trips. They are kept here until the broker answers with an error, or its connection is
 * lost.
 */
export function cacheCoordinators(
  cluster: { readonly prototype: Cluster },
  broker: { readonly prototype: Broker },
): void {
  const faults = countFaults(broker.prototype);
  const caches = new WeakMap<Cluster, Map<string, Known>>();
  const look = cluster.prototype.findGroupCoordinator;
  cluster.prototype.findGroupCoordinator = async function findKnown(this: Cluster, wanted: Look) {
    let cache = caches.get(this);
    if (cache === undefined) {
      cache = new Map();
      caches.set(this, cache);
    }
    const name = `${wanted.coordinatorType ?? 0} ${wanted.groupId}`;
    const known = cache.get(name);
    if (known?.broker.isConnected() === true && known.faults === faults(known.broker)) {
      return known.broker;
    }
    const found = await look.call(this, wanted);
    cache.set(name, { broker: found, faults: faults(found) });
    return found;
  };
}

/** How many requests to a broker have failed so far. */
function countFaults(prototype: Broker): (broker: Broker) => number {
  const counts = new WeakMap<Broker, number>();
  const symbol = Object.getOwnPropertySymbols(prototype).find(
    ({ description }) => description === "private:Broker:sendRequest",
  );
  if (symbol === undefined) throw new Error("kafkajs sends its requests in another way");
  const methods = prototype as unknown as Record<symbol, Send>;
  const send = methods[symbol] as Send;
  methods[symbol] = async function sendAndCount(this: Broker, request: unknown) {
    try {
      return await send.call(this, request);
    } catch (error) {
      const harmless = error instanceof Error && Reflect.get(error, "type") === HARMLESS;
      if (!harmless) counts.set(this, (counts.get(this) ?? 0) + 1);
      throw error;
    }
  };
  return (broker) => counts.get(broker) ?? 0;
}
