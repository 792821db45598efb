type Connection = {
  isConnected(): boolean;
  connect(): Promise<unknown>;
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
};

/** Of the size that each response begins with. */
const SIZE_BYTES = 4;

/**
 * kafkajs puts what a new socket reads behind the part of a response at which the one before it was cut off: from
 * then on nothing that the broker answers is understood, and each request waits for its time-out.
 */
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
