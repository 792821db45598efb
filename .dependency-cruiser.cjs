// Who may import whom: docs/architecture.md, "Layout". Every rule here is a row of that table; the
// step that runs this file fails when it saw too few modules, since a cruise that parses nothing
// finds nothing.

/** The one folder that each third-party package is imported in. A new package needs a row. */
const HOMES = {
  ajv: "services/adapters/json-schema",
  "ajv-formats": "services/adapters/json-schema",
  avsc: "services/adapters/avro",
  "big.js": "services/adapters/values",
  "cli-table3": "services/cli",
  "@duckdb/node-api": "services/adapters/duckdb",
  commander: "services/cli",
  "@kafkajs/confluent-schema-registry": "services/adapters/registry",
  ioredis: "services/adapters/redis",
  // Signed proposals: verifying and making compact JWS.
  jose: "services/adapters/tokens",
  kafkajs: "services/adapters/kafka",
  // The checksum of record batches: in JavaScript it took seven times as long.
  "@node-rs/crc32": "services/adapters/kafka",
  "libphonenumber-js": "services/adapters/values",
  lmdb: "services/adapters/lmdb",
  pino: "services/adapters/log",
  "prom-client": "services/adapters/metrics",
  re2js: "services/adapters/patterns",
  // The parser of shell lines: pure and synchronous, so it may live below the core.
  unbash: "services/commands/shell",
  // Policies, configuration and tables of programs are written by people: one reader for all.
  yaml: "services/adapters/(policy|config|programs)",
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

const NOT_A_SERVICE = "commands|core|runtime|adapters";

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
    name: "core-imports-only-core-and-commands",
    comment: "The core is pure: the same journal must give the same decisions anywhere.",
    severity: "error",
    from: { path: "^services/core/", pathNot: "^services/core/hash\\.ts$" },
    to: { pathNot: "^services/(core|commands)/" },
  },
  {
    name: "commands-import-only-commands",
    comment: "What a command says is understood below the core, as purely as the core.",
    severity: "error",
    from: { path: "^services/commands/" },
    to: { pathNot: "^(services/commands/|node_modules/unbash/)" },
  },
  {
    name: "core-hash-imports-only-crypto",
    comment: "Digests are the one thing the core takes from Node, in one file.",
    severity: "error",
    from: { path: "^services/core/hash\\.ts$" },
    to: { pathNot: "^(services/(core|commands)/|(node:)?crypto$)" },
  },
  {
    name: "runtime-imports-only-core",
    comment: "The runtime knows ports; what implements them is handed in.",
    severity: "error",
    from: { path: "^services/runtime/" },
    to: { pathNot: "^services/(commands|core|runtime)/" },
  },
  {
    name: "adapters-do-not-import-services",
    comment: "An adapter serves any service, so it knows none.",
    severity: "error",
    from: { path: "^services/adapters/" },
    to: { path: `^services/(?!(${NOT_A_SERVICE})/)` },
  },
  {
    name: "adapters-are-islands",
    comment: "An adapter wraps one outside thing; config, log and system are shared.",
    severity: "error",
    from: { path: "^services/adapters/([^/]+)/" },
    to: { path: "^services/adapters/", pathNot: "^services/adapters/($1|config|log|system)/" },
  },
  {
    name: "services-are-islands",
    comment:
      "Services meet on topics only. The CLI and the embedded composition put them together.",
    severity: "error",
    from: { path: `^services/(?!(?:${NOT_A_SERVICE}|cli|sdk)/)([^/]+)/` },
    to: { path: `^services/(?!(${NOT_A_SERVICE})/)`, pathNot: "^services/$1/" },
  },
  {
    name: "nothing-imports-the-cli",
    comment: "The CLI composes; what it composes must not need it.",
    severity: "error",
    from: { pathNot: "^services/cli/" },
    to: { path: "^services/cli/" },
  },
  {
    name: "services-reach-node-through-adapters",
    comment:
      "Only a composition root, the CLI and the embedded composition use Node's own modules.",
    severity: "error",
    from: {
      path: `^services/(?!(${NOT_A_SERVICE}|cli|sdk)/)`,
      pathNot: "^services/[^/]+/main\\.ts$",
    },
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
      // A type-only import is gone after the build.
      dependencyTypesNot: ["type-only"],
    },
  },
  {
    name: "not-to-unresolvable",
    comment: "An import that leads nowhere is seen by no other rule.",
    severity: "error",
    from: { path: "^services/" },
    to: { couldNotResolve: true },
  },
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
