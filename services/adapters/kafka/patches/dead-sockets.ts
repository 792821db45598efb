/**
 * Defect: Each time kafkajs refreshes its brokers, it disconnects the socket of a broker that is
 * gone. Node defers `unref` on a closed socket until it connects again, which it never does: each
 * refresh leaves a listener, and from the eleventh on Node prints a warning.
 * Upstream: not reported.
 * Patch: `unref` of a closed socket does nothing.
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
    // The socket stays in the connection: requests still write to it, and fail.
    if (socket?.destroyed === true) socket.unref = () => socket;
    return disconnect.call(this);
  };
}
