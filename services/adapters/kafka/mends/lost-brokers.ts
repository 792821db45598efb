type Refresh = (this: BrokerPool, topics: readonly string[]) => Promise<unknown>;
type Remove = (this: BrokerPool, address: { host: string; port: number }) => void;
type BrokerPool = {
  seedBroker: unknown;
  readonly brokers: Readonly<Record<string, unknown>>;
  refreshMetadata: Refresh;
  removeBroker: Remove;
};
type Errors = { readonly KafkaJSMetadataNotLoaded: new (message: string) => Error };

/**
 * What kafkajs knows of the brokers can go while it looks anew: its client is disconnected, or the broker
 * that it looks through is removed after a failed request of somebody else. It then reads properties
 * of nothing, and ends with a TypeError, after which neither kafkajs nor we try again. Here that is
 * told as what it is, metadata that is not there now. Where the look has brought brokers back after the
 * last one was removed, every later one would end like that: one of them takes its place.
 */
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
      throw new KafkaJSMetadataNotLoaded(`the brokers were lost meanwhile (${error.message})`);
    }
  };
  prototype.removeBroker = function remove(this: BrokerPool, address): void {
    this.seedBroker ??= Object.values(this.brokers)[0];
    removeBroker.call(this, address);
  };
}
