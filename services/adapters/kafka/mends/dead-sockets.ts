type Connection = {
  readonly socket: { readonly destroyed: boolean; unref(): unknown } | null;
  disconnect(): Promise<boolean>;
};

/**
 * kafkajs ends the socket of a connection whenever it looks anew for its brokers, the one of a broker that is
 * gone too. Node keeps the wish of a socket that is closed until it connects again, which it never does: each
 * time leaves a listener, and after ten of them a warning on stderr. What is closed is asked for nothing.
 */
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
