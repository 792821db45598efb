/** `/healthz`, `/readyz` and `/metrics`, which need no credentials as those of other processes. */

import type { ServeApp, ServeAppParts } from "../serve-env.ts";

export function addHealth(app: ServeApp, { served, metrics, ending }: ServeAppParts): void {
  app.get("/healthz", (c) => c.json({ ok: true }));
  app.get("/readyz", (c) => {
    const why = ending.aborted ? "stopping" : served.link.whyUnavailable();
    if (why === null) return c.json({ ok: true });
    return c.json({ ok: false, state: why, problem: served.link.problem() }, 503);
  });
  app.get("/metrics", async (c) => {
    return c.body(await metrics.text(), 200, { "Content-Type": metrics.contentType });
  });
}
