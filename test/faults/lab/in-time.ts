// Runs a task that must end in time.

export type InTime<T> =
  | { readonly type: "done"; readonly value: T }
  | { readonly type: "failed"; readonly problem: string }
  | { readonly type: "overran" };

/** Never rejects. A task that overruns goes on alone, and its result is ignored. */
export async function inTime<T>(work: () => Promise<T>, withinMs: number): Promise<InTime<T>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<InTime<T>>((resolve) => {
    timer = setTimeout(() => resolve({ type: "overran" }), Math.max(0, withinMs));
  });
  try {
    const done = work().then((value): InTime<T> => ({ type: "done", value }));
    return await Promise.race([done, late]);
  } catch (error) {
    return {
      type: "failed",
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  } finally {
    clearTimeout(timer);
  }
}
