// Who may import whom: docs/architecture.md, "Layout". Every rule here is a row of that table; the
// step that runs this file fails when it saw too few modules, since a cruise that parses nothing
// finds nothing.

/** The one folder that each third-party package is imported in. A new package needs a row. */
const HOMES = {
  ajv: "services/adapters/json-schema",
  "ajv-formats": "services/adapters/json-schema",
  avsc: "services/wire",
  "big.js": "services/adapters/values",
  "cli-table3": "services/cli",
  "@duckdb/node-api": "services/adapters/duckdb",
  commander: "services/cli",
  "@kafkajs/confluent-schema-registry": "services/adapters/registry",
  hono: "services/serve",
  "@hono/node-server": "services/serve",
  "@hono/zod-openapi": "services/serve",
  ioredis: "services/adapters/redis",
  // Which addresses a webhook may go to.
  "ipaddr.js": "services/adapters/webhooks",
  // Signed proposals: verifying and making compact JWS.
  jose: "services/adapters/tokens",
  kafkajs: "services/adapters/kafka",
  // The checksum of record batches: in JavaScript it took seven times as long.
  "@node-rs/crc32": "services/adapters/kafka",
  "libphonenumber-js": "services/adapters/values",
  fzstd: "services/adapters/kafka",
  lmdb: "services/adapters/lmdb",
  // An optional peer: only programs that trace have it.
  "@opentelemetry/api": "services/adapters/opentelemetry",
  pino: "services/adapters/log",
  "prom-client": "services/adapters/metrics",
  re2js: "services/adapters/patterns",
  snappyjs: "services/adapters/kafka",
  // The parser of shell lines: pure and synchronous, so it may live below the core.
  unbash: "services/commands/shell",
  // Policies and configuration are written by people: one reader for both.
  yaml: "services/adapters/(policy|config)",
  zod: "services/adapters/(policy|config|programs)",
};

/** @param {string} text */
const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** @type {import("dependency-cruiser").IRegularForbiddenRuleType[]} */
const packageRules = Object.entries(HOMES).map(([name, home]) => ({
  name: `only-${/\/\(?([a-z-]+)[^/]*$/.exec(home)?.[1]}-imports-${name}`,
  comment: `\`${name}\` can be replaced as long as one folder knows it: ${home}.`,
  severity: "error",
  from: { pathNot: `^${home}/` },
  to: { path: `^node_modules/${escaped(name)}/` },
}));

/**
 * Each folder of `services/`, and the folders that it may import besides itself: the table of
 * docs/architecture.md, from the bottom up.
 */
const LAYERS = {
  commands: [],
  collections: [],
  core: ["commands", "collections"],
  runtime: ["commands", "collections", "core"],
  wire: ["core", "runtime"],
  adapters: ["commands", "collections", "core", "runtime"],
  // The clock of the host, which is no outside thing to be exchanged.
  client: ["core", "runtime", "wire", "adapters/system"],
  process: ["core", "runtime", "wire", "adapters", "client"],
  gate: ["core", "runtime", "wire", "adapters", "client", "process"],
  executor: ["core", "runtime", "wire", "adapters", "client", "process"],
  analytics: ["core", "runtime", "wire", "adapters", "client", "process"],
  // The embedded gate that it serves, and the notifier beside it.
  serve: ["core", "runtime", "wire", "adapters", "client", "process", "library", "gate", "notify"],
  notify: ["core", "runtime", "wire", "adapters", "client", "process"],
};

/** Folders that must give the same answer anywhere: no module of Node, no package without a row. */
const PURE = "commands|collections|core|runtime";

/** @type {import("dependency-cruiser").IRegularForbiddenRuleType[]} */
const layerRules = Object.entries(LAYERS).map(([folder, below]) => ({
  name: `${folder}-imports-only-what-is-below`,
  comment: `services/${folder} may import ${below.map((name) => `services/${name}`).join(", ") || "itself alone"}.`,
  severity: "error",
  from: { path: `^services/${folder}/` },
  to: { path: `^services/(?!(${[folder, ...below].join("|")})/)` },
}));

/** @type {import("dependency-cruiser").IRegularForbiddenRuleType[]} */
const forbidden = [
  {
    name: "no-circular",
    comment: "Modules that need each other are one module, or miss a third.",
    severity: "error",
    from: {},
    to: { circular: true },
  },
  {
    name: "pure-folders-import-nothing-outside",
    comment:
      "The same journal must give the same decisions anywhere: no module of Node, no client.",
    severity: "error",
    from: { path: `^services/(${PURE})/`, pathNot: "^services/core/hash\\.ts$" },
    to: { pathNot: "^(services/|node_modules/unbash/)" },
  },
  {
    name: "core-hash-imports-only-crypto",
    comment: "Digests are the one thing the core takes from Node, in one file.",
    severity: "error",
    from: { path: "^services/core/hash\\.ts$" },
    to: { pathNot: "^(services/core/|(node:)?crypto$)" },
  },
  {
    name: "adapters-are-islands",
    comment: "An adapter wraps one outside thing; config, log and system are shared.",
    severity: "error",
    from: { path: "^services/adapters/([^/]+)/" },
    to: { path: "^services/adapters/", pathNot: "^services/adapters/($1|config|log|system)/" },
  },
  {
    name: "nothing-imports-the-cli",
    comment: "The CLI composes; what it composes must not need it.",
    severity: "error",
    from: { pathNot: "^services/cli/" },
    to: { path: "^services/cli/" },
  },
  {
    name: "commands-load-what-they-run-late",
    comment:
      "`callgate --help` must not load the engine: a command imports what it runs in its action.",
    severity: "error",
    from: { path: "^services/cli/commands/" },
    to: {
      path: "^services/(cli/(?!commands/|output/|completion/|[^/]+/[^/]+-formats\\.ts)|core/[^/]+/|commands/|serve/|gate/|library/|wire/|runtime/)",
      dependencyTypesNot: ["dynamic-import", "type-only"],
    },
  },
  {
    name: "services-reach-node-through-adapters",
    comment:
      "Gate, executor, analytics and notify get Node's own modules through `adapters` and `process`.",
    severity: "error",
    from: { path: "^services/(gate|executor|analytics|notify)/" },
    to: { dependencyTypes: ["core"] },
  },
  {
    name: "services-stand-alone",
    comment: "What is shipped must not need what is not.",
    severity: "error",
    from: { path: "^services/" },
    to: { path: "^(test|tasks|bin|docs|infra)/" },
  },
  {
    name: "no-package-without-a-home",
    comment: "A third-party package gets a row in HOMES: one adapter folder imports it.",
    severity: "error",
    from: { path: "^services/" },
    to: {
      path: "^node_modules/",
      pathNot: `^node_modules/(${Object.keys(HOMES).map(escaped).join("|")})/`,
    },
  },
  {
    name: "no-undeclared-package",
    comment: "Only what package.json lists under dependencies is there once installed.",
    severity: "error",
    from: { path: "^services/" },
    to: {
      dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
      // A type-only import is gone after the build, and a peer is the user's to install.
      dependencyTypesNot: ["type-only", "npm-peer"],
    },
  },
  {
    name: "not-to-unresolvable",
    comment: "An import that leads nowhere is seen by no other rule.",
    severity: "error",
    from: { path: "^services/" },
    to: { couldNotResolve: true },
  },
  ...layerRules,
  ...packageRules,
];

module.exports = {
  forbidden,
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^services/core/ambient/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".js", ".json", ".d.ts"],
    },
  },
};
