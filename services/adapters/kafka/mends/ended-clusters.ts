type Cluster = { connect(): Promise<void>; disconnect(): Promise<void> };

/** Tells whether a client was disconnected by its user, and not connected since. */
export function rememberEnded(cluster: { readonly prototype: Cluster }): (one: object) => boolean {
  const ended = new WeakSet<object>();
  const { prototype } = cluster;
  const { connect, disconnect } = prototype;
  prototype.connect = function connectAgain(this: Cluster): Promise<void> {
    ended.delete(this);
    return connect.call(this);
  };
  prototype.disconnect = function disconnectForGood(this: Cluster): Promise<void> {
    ended.add(this);
    return disconnect.call(this);
  };
  return (one) => ended.has(one);
}
