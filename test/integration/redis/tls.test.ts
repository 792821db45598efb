// A Redis and a registry with TLS and a certificate that no system trusts.
import { createServer } from "node:https";
import { afterEach, describe, expect, it } from "vitest";
import { findFreePorts } from "../../../infra/local/free-ports.js";
import { startRedis } from "../../../infra/local/start-redis.js";
import { createRegistryClient } from "../../../services/adapters/registry/registry-client.ts";
import { localParts } from "../../support/backends/local-parts.ts";
import { blobAt, closeStores, openStore, updateTo } from "../../support/redis/redis-store.ts";
import { makeCertificate } from "../../support/tls/certificate.ts";

const parts = localParts(["redis"]);
const certificate = makeCertificate();

describe.skipIf(!parts.available || certificate === undefined)("over TLS", () => {
  const { certFile = "", keyFile = "", cert = "", key = "" } = certificate ?? {};
  const ending: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    closeStores();
    for (const end of ending.splice(0)) await end();
  });

  it("stores checkpoints where the certificate is trusted only", async () => {
    const [port = 0] = await findFreePorts(1);
    const files = ["--tls-cert-file", certFile, "--tls-key-file", keyFile];
    const args = ["--tls-port", String(port), "--tls-auth-clients", "no", ...files];
    const redis = await startRedis({ args });
    ending.push(() => redis.stop());
    const url = `rediss://127.0.0.1:${port}/0`;
    const { store } = openStore(url, { tls: { ca: cert } });
    const saved = await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    expect(saved.type).toBe("saved");
    for (const distrustful of [openStore(url), openStore(url, { tls: {} })]) {
      await expect(distrustful.store.load(0)).rejects.toThrow(/self-signed certificate/);
    }
  });

  it("asks a registry where its certificate is trusted only", async () => {
    const server = createServer({ cert, key }, (_, response) => response.end("[]"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ending.push(
      () =>
        new Promise((resolve) => {
          server.closeAllConnections();
          server.close(resolve);
        }),
    );
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const options = { url: `https://127.0.0.1:${port}`, clientId: "test", timeoutMs: 10_000 };
    const trusting = createRegistryClient({ ...options, tls: { ca: cert } });
    await trusting.reach();
    const distrustful = createRegistryClient(options);
    await expect(distrustful.reach()).rejects.toThrow(/self-signed certificate/);
    trusting.close();
    distrustful.close();
  });
});
