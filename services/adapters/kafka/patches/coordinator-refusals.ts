/**
 * Defect: Where no broker names a coordinator, kafkajs reports that none was found, whatever the
 * brokers answered. A client without the right to its group or transactional id searches for ever.
 * Upstream: not reported.
 * Patch: The search is repeated once, and a refusal is thrown.
 */
type Look = { readonly groupId: string; readonly coordinatorType?: number };
type Broker = { findGroupCoordinator(look: Look): Promise<unknown> };
type Cluster = {
  readonly brokerPool: { findConnectedBroker(): Promise<Broker> };
  findGroupCoordinatorMetadata(look: Look): Promise<unknown>;
};

const COORDINATOR_MISSING = "KafkaJSGroupCoordinatorNotFound";
/** GROUP_ and TRANSACTIONAL_ID_AUTHORIZATION_FAILED. */
const REFUSALS: ReadonlySet<unknown> = new Set([30, 53]);

export function throwCoordinatorRefusals(cluster: { readonly prototype: Cluster }): void {
  const look = cluster.prototype.findGroupCoordinatorMetadata;
  cluster.prototype.findGroupCoordinatorMetadata = async function findOrThrow(
    this: Cluster,
    wanted: Look,
  ) {
    try {
      return await look.call(this, wanted);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== COORDINATOR_MISSING) throw error;
      throw (await findBrokerError(this, wanted)) ?? error;
    }
  };
}

async function findBrokerError({ brokerPool }: Cluster, wanted: Look): Promise<unknown> {
  try {
    const broker = await brokerPool.findConnectedBroker();
    await broker.findGroupCoordinator(wanted);
    return undefined;
  } catch (error) {
    return error instanceof Error && REFUSALS.has(Reflect.get(error, "code")) ? error : undefined;
  }
}
