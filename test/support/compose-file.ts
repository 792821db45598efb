// Reads docker-compose.yml for tests.
import { parse } from "yaml";
import { readText } from "./source-tree.ts";

export type ComposeService = {
  readonly image: string;
  readonly build?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly depends_on?: unknown;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
};

type ComposeFile = {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};

export const compose: ComposeFile = parse(readText("docker-compose.yml"), { merge: true });

/** The services that run Callgate's own image. */
export const processes = Object.entries(compose.services)
  .filter(([, { build }]) => build !== undefined)
  .map(([name, service]) => ({ name, ...service }));

/** A path inside a container as a path of the repository; undefined: nothing is mounted there. */
export function mountedFrom({ volumes = [] }: ComposeService, path: string): string | undefined {
  for (const volume of volumes) {
    const [source = "", target = ""] = volume.split(":");
    if (source.startsWith("./") && path.startsWith(`${target}/`)) {
      return source.slice(2) + path.slice(target.length);
    }
  }
  return undefined;
}
