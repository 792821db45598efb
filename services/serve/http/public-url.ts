import type { ServeContext } from "../serve-env.ts";
import { Problem } from "./problem.ts";

export type PublicUrlParts = {
  /** As configured; null: as the request names the server. */
  readonly publicUrl: string | null;
  readonly isOwnHost: (host: string) => boolean;
};

/**
 * The URL under which clients reach the server, without a `/` at its end. @throws Problem 403 where
 * a request names a host that is not known to be this server: others must not choose where clients
 * go.
 */
export function readPublicUrl(c: ServeContext, { publicUrl, isOwnHost }: PublicUrlParts): string {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, "");
  const host = c.req.header("host") ?? "";
  if (isOwnHost(host)) return `http://${host}`;
  throw new Problem({
    status: 403,
    code: "host_refused",
    detail: "the server does not know that it is reached under this name",
    at: "Host",
    remedy: "Set `serve.publicUrl` in the server's configuration",
  });
}
