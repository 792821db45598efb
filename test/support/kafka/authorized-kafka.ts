// A broker with SASL users for all principals, each with the rights of docs/access-control.md only.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AclEntry, AclOperationTypes, AclResourceTypes } from "kafkajs";
import { type LocalKafka, startKafka } from "../../../infra/local/start-kafka.js";
import { findFetchedKafka } from "../backends/local-parts.ts";

const PAGE = join(import.meta.dirname, "../../../docs/access-control.md");
const PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required";
const PASSWORD = "correct horse battery staple";
const HEAP_MB = 384;
const PRINCIPALS = ["gate", "executor", "agent", "approver", "analytics", "notify"] as const;

export type Principal = (typeof PRINCIPALS)[number];

/** Clients of the direct listener, the brokers and the test, may do everything. */
export function startAuthorizedKafka(): Promise<LocalKafka> {
  const version = findFetchedKafka();
  const users = PRINCIPALS.map((name) => `user_${name}="${PASSWORD}"`).join(" ");
  return startKafka({
    ...(version === undefined ? {} : { version }),
    heapMb: HEAP_MB,
    properties: {
      "listener.security.protocol.map":
        "CLIENT:SASL_PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT",
      "listener.name.client.sasl.enabled.mechanisms": "PLAIN",
      "listener.name.client.plain.sasl.jaas.config": `${PLAIN} ${users};`,
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "allow.everyone.if.no.acl.found": "false",
      "super.users": "User:ANONYMOUS",
    },
  });
}

/** `kafka.sasl` of a configuration. */
export function loginOf(principal: Principal) {
  return { mechanism: "plain", username: principal, password: PASSWORD } as const;
}

/** One command of the page. */
export type Grant = {
  /** Its words after `$ACL`. */
  readonly text: string;
  readonly entries: readonly AclEntry[];
};

/** The commands of the page as the shell expands them, one `$ACL` each. */
export function documentedGrants(): readonly Grant[] {
  const [, section = ""] = readFileSync(PAGE, "utf8").split("\n## Who may do what\n");
  const script = /```sh\n(.*?)```/s.exec(section)?.[1] ?? "";
  const prelude = `record() { printf '%s\\n' "$*"; }\nACL=record\nset -eu\n`;
  const output = execFileSync("bash", ["-c", `${prelude}${script}`], { encoding: "utf8" });
  return output
    .trimEnd()
    .split("\n")
    .map((text) => ({ text, entries: entriesOf(text.split(" ")) }));
}

/**
 * Values of `AclResourceTypes`, `AclOperationTypes`, `AclPermissionTypes` and
 * `ResourcePatternTypes` of kafkajs.
 */
const RESOURCES: Readonly<Record<string, AclResourceTypes>> = {
  "--topic": 2,
  "--group": 3,
  "--transactional-id": 5,
};
const OPERATIONS: Readonly<Record<string, AclOperationTypes>> = {
  Read: 3,
  Write: 4,
  Describe: 8,
  DescribeConfigs: 10,
};
const ALLOW = 3;
const LITERAL = 3;
const PREFIXED = 4;

/** The options of `kafka-acls.sh --add` that the page uses; throws on any other. */
function entriesOf(words: readonly string[]): readonly AclEntry[] {
  let principal = "";
  let resourcePatternType = LITERAL;
  const operations: AclOperationTypes[] = [];
  const resources: { readonly resourceType: AclResourceTypes; readonly resourceName: string }[] =
    [];
  for (let at = 0; at < words.length; at += 2) {
    const [option = "", value = ""] = words.slice(at, at + 2);
    const [operation, resourceType] = [OPERATIONS[value], RESOURCES[option]];
    if (option === "--allow-principal") principal = value;
    else if (option === "--operation" && operation !== undefined) operations.push(operation);
    else if (option === "--resource-pattern-type" && value === "prefixed")
      resourcePatternType = PREFIXED;
    else if (resourceType !== undefined) resources.push({ resourceType, resourceName: value });
    else throw new Error(`the page has an option that is not known: ${option} ${value}`);
  }
  return resources.flatMap((resource) =>
    operations.map((operation) => ({
      ...{ principal, host: "*", operation, resourcePatternType },
      ...{ permissionType: ALLOW, ...resource },
    })),
  );
}
