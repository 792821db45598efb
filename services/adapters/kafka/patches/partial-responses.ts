/**
 * Defect: Where a connection ends in the middle of a response, kafkajs appends the bytes of the
 * next connection to that part. It then understands no response, and each request waits for its
 * time-out.
 * Upstream: not reported.
 * Patch: A new connection drops that part.
 */
type Connection = {
  isConnected(): boolean;
  connect(): Promise<unknown>;
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
};

/** Length of the size that each response begins with. */
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
