/**
 * Defect: A producer retries the request for its id, and the end of a transaction, by the settings
 * of its cluster object, and kafkajs does not pass the client's settings to it. Whatever was set,
 * it waits 0.3 s after the first refusal and twice as long after each further one. So does each
 * take-over of an id with an open transaction.
 * Upstream: not reported.
 * Patch: The cluster gets the settings of its client.
 */
type ClusterClass = new (options: { readonly retry?: object }) => object;

export function applyClientRetry<C extends ClusterClass>(cluster: C): C {
  return new Proxy(cluster, {
    construct(target, args: ConstructorParameters<ClusterClass>, newTarget) {
      const made = Reflect.construct(target, args, newTarget) as object;
      return Object.assign(made, { retry: args[0].retry });
    },
  });
}
