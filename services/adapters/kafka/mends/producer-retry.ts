type ClusterClass = new (options: { readonly retry?: object }) => object;

/**
 * A producer tries as its cluster says where it gets its id and where it ends a transaction, and kafkajs does not tell
 * the cluster: whatever was set, it waits 0.3 s after the first refusal and twice as long after each further one. So
 * would each take-over of an id that has a transaction open, which is ended in milliseconds.
 */
export function tellRetry<C extends ClusterClass>(cluster: C): C {
  return new Proxy(cluster, {
    construct(target, args: ConstructorParameters<ClusterClass>, newTarget) {
      const made = Reflect.construct(target, args, newTarget) as object;
      return Object.assign(made, { retry: args[0].retry });
    },
  });
}
