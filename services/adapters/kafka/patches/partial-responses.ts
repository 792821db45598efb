/**
 * Defect: kafkajs puts what a new socket reads behind the part of a response at which the socket before was
 * cut off: it understands nothing more, and each request waits for its time-out.
 * Upstream: not reported.
 * Patch: A new connection forgets that part.
 */
type Connection = {
  isConnected(): boolean;
  connect(): Promise<unknown>;
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
};

/** Of the size that each response begins with. */
const SIZE_BYTES = 4;

export function forgetPartialResponses(connection: { readonly prototype: Connection }): void {
  const { prototype } = connection;
  const { connect } = prototype;
  prototype.connect = function connectAnew(this: Connection): Promise<unknown> {
    if (!this.isConnected()) {
      this.chunks = [];
      this.bytesBuffered = 0;
      this.bytesNeeded = SIZE_BYTES;
    }
    return connect.call(this);
  };
}
