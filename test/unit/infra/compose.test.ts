// docker-compose.yml and the Dockerfile name nothing that the code does not have. There is no container
// engine where this runs: the compose schema is checked by `npm run infra:check`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { VERSIONS } from "../../../infra/local/versions.js";
import { CONFIG_KEYS } from "../../../services/adapters/config/config-keys.ts";
import { loadConfig } from "../../../services/adapters/config/load-config.ts";
import { compose, mountedFrom, processes } from "../../support/compose-file.ts";
import { listTextFiles, readText } from "../../support/source-tree.ts";

const files = listTextFiles();
const { services } = compose;
const isThere = (path: string) =>
  files.includes(path) || files.some((file) => file.startsWith(`${path.replace(/\/$/, "")}/`));

describe("docker-compose.yml", () => {
  test("runs two gates, an executor, the analytics and their backends", () => {
    const names = [
      ...["analytics", "executor", "gate-1", "gate-2", "grafana", "kafka", "prometheus", "redis"],
      ...["registry", "topics"],
    ];
    expect(Object.keys(services).sort()).toEqual(names);
    expect(services["gate-1"]).toEqual(services["gate-2"]);
  });

  test("pins every image, those of the tests to the same version", () => {
    const loose = Object.values(services)
      .map(({ image }) => image)
      .filter((image) => !/:v?\d+\.\d+\.\d+([.-]\w+)*$/.test(image));
    expect(loose).toEqual([]);
    const { images } = VERSIONS;
    expect(services["kafka"]?.image).toBe(images.kafka);
    expect(services["redis"]?.image).toBe(images.redis);
    expect(services["registry"]?.image).toBe(images["registry-in-kafka"]);
    expect(images["registry-in-kafka"].split(":")[1]).toBe(images.registry.split(":")[1]);
    expect(services["prometheus"]?.image).toBe(images.prometheus);
    expect(services["grafana"]?.image).toBe(images.grafana);
  });

  test("names only files and volumes that exist", () => {
    const mounts = Object.values(services).flatMap(({ volumes = [] }) => volumes);
    const missing = mounts
      .map((volume) => volume.split(":")[0] ?? "")
      .filter((source) =>
        source.startsWith("./") ? !isThere(source.slice(2)) : !(source in compose.volumes),
      );
    expect(mounts.length).toBeGreaterThan(5);
    expect(missing).toEqual([]);
  });

  test("opens ports only to this machine", () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });

  test("has a health check for every long-running service", () => {
    const unchecked = Object.entries(services)
      .filter(([name, { healthcheck }]) => name !== "topics" && healthcheck === undefined)
      .map(([name]) => name);
    expect(unchecked).toEqual([]);
  });
});

describe("each of our processes in docker-compose.yml", () => {
  const scratch = mkdtempSync(join(tmpdir(), "callgate-compose-"));
  const secretFile = join(scratch, "secret");
  writeFileSync(secretFile, "a secret of some length\n");

  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  test.each(processes)("$name can write only to its volumes", (service) => {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(["ALL"]);
    expect(service.security_opt).toEqual(["no-new-privileges:true"]);
  });

  test.each(processes)("$name sets variables that are keys of the configuration", (service) => {
    const declaredVariables = CONFIG_KEYS.map(({ variable }) => variable);
    const unknown = Object.keys(service.environment ?? {}).filter(
      (name) => !declaredVariables.includes(name),
    );
    expect(unknown).toEqual([]);
  });

  test("starts the gates with the image's command line and flags that Node accepts", () => {
    const [image] = /^ENTRYPOINT (.+)$/m.exec(readText("Dockerfile"))?.slice(1) ?? [];
    const [node, script] = JSON.parse(image ?? "[]") as string[];
    const entrypoints = processes
      .map(({ entrypoint }) => entrypoint)
      .filter((line) => line !== undefined);
    expect(entrypoints).toHaveLength(2);
    for (const line of entrypoints) {
      expect([line[0], line.at(-1)]).toEqual([node, script]);
      const flags = line.slice(1, -1);
      expect(flags.length).toBeGreaterThan(0);
      expect(spawnSync(process.execPath, [...flags, "-e", "0"]).status).toBe(0);
    }
  });

  test.each(processes)("$name has a valid configuration", (service) => {
    const needs = ["kafka.brokers", "policy.files", "secret.value"];
    const { environment = {} } = service;
    const variables = new Map(Object.entries(environment));
    variables.set("CALLGATE_SECRET_VALUE_FILE", secretFile);
    const policy = environment["CALLGATE_POLICY_FILES"] ?? "";
    variables.set("CALLGATE_POLICY_FILES", mountedFrom(service, policy) ?? "nowhere");
    expect(loadConfig({ file: undefined, variables, needs })).toMatchObject({ ok: true });
    expect(environment["CALLGATE_SECRET_VALUE_FILE"]).toBe(`/run/secrets/${service.secrets?.[0]}`);
    expect(Object.keys(compose.secrets)).toEqual(service.secrets);
  });

  test.each(processes)("$name refers only to mounted files", (service) => {
    const { environment = {} } = service;
    const paths = ["CALLGATE_POLICY_FILES", "CALLGATE_EXECUTOR_HANDLERS"]
      .map((name) => environment[name])
      .filter((path) => path !== undefined);
    expect(paths.length).toBeGreaterThan(0);
    const missing = paths.filter((path) => !isThere(mountedFrom(service, path) ?? "nowhere"));
    expect(missing).toEqual([]);
  });

  test("uses the addresses on which the parts listen", () => {
    const environment = services["gate-1"]?.environment ?? {};
    const listeners = services["kafka"]?.environment?.["KAFKA_ADVERTISED_LISTENERS"];
    expect(listeners?.split(",")).toContain(`CLIENT://${environment["CALLGATE_KAFKA_BROKERS"]}`);
    const check = services["registry"]?.healthcheck?.test.at(-1) ?? "";
    const registry = new URL(environment["CALLGATE_REGISTRY_URL"] ?? "");
    expect(new URL(check).pathname).toBe(`${registry.pathname}/subjects`);
    expect(new URL(check).port).toBe(registry.port);
    expect(Object.keys(services)).toContain(registry.hostname);
    expect(Object.keys(services)).toContain(
      new URL(environment["CALLGATE_REDIS_URL"] ?? "").hostname,
    );
  });

  test("is scraped where it serves its metrics, on a port that the image exposes", () => {
    const { scrape_configs: scrapes } = parse(readText("infra/prometheus/prometheus.yml"));
    const targets = scrapes[0].static_configs[0].targets;
    const served = processes
      .filter(({ healthcheck }) => healthcheck !== undefined)
      .map(({ name, environment = {} }) => `${name}:${environment["CALLGATE_HTTP_PORT"]}`);
    expect(served).toEqual(targets);
    const open = /^EXPOSE (.+)$/m.exec(readText("Dockerfile"))?.[1]?.split(" ");
    const ports = new Set(served.map((target) => target.split(":")[1]));
    expect([...ports].sort()).toEqual(open);
  });
});

test("docker-compose.yml has a handler for each tool of its policy", async () => {
  const policy = parse(readText("infra/policies/demo.yaml"));
  const path = new URL("../../../examples/executor/handlers.mjs", import.meta.url).href;
  const { handlers } = (await import(path)) as { readonly handlers: Readonly<object> };
  expect(Object.keys(handlers)).toEqual(Object.keys(policy.policy_engine.tool_schemas));
});

describe("the Dockerfile", () => {
  const lines = readText("Dockerfile").replaceAll(/\\\n/g, " ").split("\n");
  const ignored = readText(".dockerignore").split("\n");
  const of = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.split(/\s+/));

  test("copies only files that exist and that the build context contains", () => {
    const copied = of("COPY")
      .filter(([, flag]) => flag?.startsWith("--from=") !== true)
      .flatMap((words) => words.slice(1, -1));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((path) => !isThere(path))).toEqual([]);
    expect(copied.filter((path) => !ignored.includes(`!${path}`))).toEqual([]);
  });

  test("ships what the package ships", () => {
    const shipped = of("COPY").map((words) => words.at(-1));
    const manifest: { files: readonly string[] } = JSON.parse(readText("package.json"));
    const wanted = manifest.files.filter((path) => !/^!|\.md$/.test(path));
    expect(wanted.filter((path) => !shipped.includes(path))).toEqual([]);
  });

  test("pins both stages to one supported version of Node", () => {
    const bases = of("FROM").map((words) => words[1] ?? "");
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^node:(20|22|24)\.\d+\.\d+-[a-z]+-slim$/);
  });

  test("runs the command line as an ordinary user", () => {
    expect(of("USER").at(-1)).toEqual(["USER", "node"]);
    const entry = of("ENTRYPOINT").at(-1)?.slice(1).join(" ") ?? "[]";
    expect(JSON.parse(entry)).toEqual(["node", "bin/callgate.js"]);
    expect(isThere("bin/callgate.js")).toBe(true);
  });
});
