/**
 * Defect: kafkajs looks up the coordinator for each request, four times in a transaction. That is
 * four of about nine round trips.
 * Upstream: not reported.
 * Patch: A coordinator is cached until it answers with an error or its connection is lost.
 */
type Pool = { send(request: unknown): Promise<unknown> };
type Broker = { readonly connectionPool: object; isConnected(): boolean };
type Look = { readonly groupId: string; readonly coordinatorType?: number };
type Cluster = { findGroupCoordinator(look: Look): Promise<Broker> };
type CachedCoordinator = { readonly broker: Broker; readonly faults: number };

/** An error that does not discredit the coordinator: only a coordinator answers so. */
const HARMLESS = "CONCURRENT_TRANSACTIONS";

export function cacheCoordinators(
  cluster: { readonly prototype: Cluster },
  connectionPool: { readonly prototype: Pool },
): void {
  const faults = countFaults(connectionPool.prototype);
  const caches = new WeakMap<Cluster, Map<string, CachedCoordinator>>();
  const look = cluster.prototype.findGroupCoordinator;
  cluster.prototype.findGroupCoordinator = async function findCached(this: Cluster, wanted: Look) {
    let cache = caches.get(this);
    if (cache === undefined) {
      cache = new Map();
      caches.set(this, cache);
    }
    const name = `${wanted.coordinatorType ?? 0} ${wanted.groupId}`;
    const cached = cache.get(name);
    if (cached?.broker.isConnected() === true && cached.faults === faults(cached.broker)) {
      return cached.broker;
    }
    const coordinator = await look.call(this, wanted);
    cache.set(name, { broker: coordinator, faults: faults(coordinator) });
    return coordinator;
  };
}

/** How many requests to a broker have failed so far. */
function countFaults(prototype: Pool): (broker: Broker) => number {
  const counts = new WeakMap<object, number>();
  const { send } = prototype;
  prototype.send = async function sendAndCount(this: Pool, request: unknown) {
    try {
      return await send.call(this, request);
    } catch (error) {
      const harmless = error instanceof Error && Reflect.get(error, "type") === HARMLESS;
      if (!harmless) counts.set(this, (counts.get(this) ?? 0) + 1);
      throw error;
    }
  };
  return ({ connectionPool }) => counts.get(connectionPool) ?? 0;
}
