/**
 * Defect: kafkajs can lose its brokers while it refreshes its metadata: its user disconnects it, or
 * a failed request removes the broker in use. It then reads properties of undefined, and the
 * TypeError ends it for good. Where a refresh finds brokers after the last one was removed, each
 * later refresh ends like that.
 * Upstream: not reported.
 * Patch: The error becomes "metadata not loaded", which kafkajs retries, and a known broker
 * replaces the removed one.
 */
type Refresh = (this: BrokerPool, topics: readonly string[]) => Promise<unknown>;
type Remove = (this: BrokerPool, address: { host: string; port: number }) => void;
type BrokerPool = {
  seedBroker: unknown;
  readonly brokers: Readonly<Record<string, unknown>>;
  refreshMetadata: Refresh;
  removeBroker: Remove;
};
type Errors = { readonly KafkaJSMetadataNotLoaded: new (message: string) => Error };

export function surviveLostBrokers(
  pool: { readonly prototype: BrokerPool },
  { KafkaJSMetadataNotLoaded }: Errors,
): void {
  const { prototype } = pool;
  const { refreshMetadata, removeBroker } = prototype;
  prototype.refreshMetadata = async function refresh(this: BrokerPool, topics) {
    this.seedBroker ??= Object.values(this.brokers)[0];
    try {
      return await refreshMetadata.call(this, topics);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new KafkaJSMetadataNotLoaded(
        `the brokers were lost during a refresh (${error.message})`,
      );
    }
  };
  prototype.removeBroker = function remove(this: BrokerPool, address): void {
    this.seedBroker ??= Object.values(this.brokers)[0];
    removeBroker.call(this, address);
  };
}
