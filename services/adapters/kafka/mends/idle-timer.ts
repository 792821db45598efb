type RequestQueue = {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
};

/**
 * After its first answer each connection of kafkajs wakes up every millisecond for good: it looks
 * after pending requests where there are none, with a time-out of less than nothing. What is pending
 * later asks for the timer itself, throttled or not.
 */
export function stopIdleTimer(queue: { readonly prototype: RequestQueue }): void {
  const { prototype } = queue;
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleIfPending(this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}
