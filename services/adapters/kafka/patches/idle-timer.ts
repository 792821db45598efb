/**
 * Defect: After its first answer each connection wakes up every millisecond for ever. It sets a
 * timer to check its pending requests although there are none, and the time-out is negative.
 * Upstream: https://github.com/tulios/kafkajs/issues/1751 (pull requests #1755 and #1768 are not
 * merged).
 * Patch: The timer starts only while requests are pending.
 */
type RequestQueue = {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
};

export function stopIdleTimer(queue: { readonly prototype: RequestQueue }): void {
  const { prototype } = queue;
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleIfPending(this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}
