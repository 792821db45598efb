/**
 * Defect: kafkajs throws in a socket's event listener, and so ends the process, where a server
 * answers with bytes that are no Kafka response. Another server may use the port of a broker that
 * is gone.
 * Upstream: not reported.
 * Patch: The connection ends like a lost one.
 */
type Connection = {
  readonly broker: string;
  readonly socket: { destroy(error: Error): unknown } | null;
  processData(data: Buffer): unknown;
};

export function endBrokenConnections(connection: { readonly prototype: Connection }): void {
  const { prototype } = connection;
  const { processData } = prototype;
  prototype.processData = function processOrEnd(this: Connection, data: Buffer): unknown {
    try {
      return processData.call(this, data);
    } catch (cause) {
      const text = `${this.broker} does not answer as a Kafka broker does`;
      this.socket?.destroy(new Error(text, { cause }));
      return undefined;
    }
  };
}
