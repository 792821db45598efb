/**
 * Defect: kafkajs ends the socket of a connection each time that it looks for its brokers, also of a broker
 * that is gone. Node holds the request of a closed socket until the socket connects again, which it
 * never does: each time leaves a listener, and ten of them a warning on stderr.
 * Upstream: not reported.
 * Patch: A closed socket is not asked.
 */
type Connection = {
  readonly socket: { readonly destroyed: boolean; unref(): unknown } | null;
  disconnect(): Promise<boolean>;
};

export function leaveDeadSockets(connection: { readonly prototype: Connection }): void {
  const { prototype } = connection;
  const disconnect = prototype.disconnect;
  prototype.disconnect = function disconnectIfOpen(this: Connection): Promise<boolean> {
    const { socket } = this;
    // It stays where it is: what was to be sent still writes to it, and fails.
    if (socket?.destroyed === true) socket.unref = () => socket;
    return disconnect.call(this);
  };
}
