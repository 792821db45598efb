/** Options before the subcommands of programs: which take a value, and which stand alone. */
import type { OptionForms } from "./ran.ts";

export interface CommandForms extends OptionForms {
  /** Options whose value is the rest of their word. */
  readonly joined?: RegExp;
  /** Every word that is no option is a subcommand, and `NAME=value` is none. */
  readonly goals?: boolean;
}

const PIP: CommandForms = {
  flags: /^-(?:[qv]+|y)$|^--(?:quiet|verbose|isolated|no-input|disable-pip-version-check)$/,
  values: /^--(?:proxy|log|timeout|retries|cache-dir|cert|client-cert|python|trusted-host)$/,
};
const DOCKER: CommandForms = {
  flags: /^-D$|^--(?:debug|tls|tlsverify|remote)$/,
  values:
    /^-[Hcl]$|^--(?:host|context|config|log-level|tlscacert|tlscert|tlskey|connection|url|identity|root|runroot)$/,
};
const COMPOSE: CommandForms = {
  flags: /^--(?:dry-run|all-resources|compatibility|verbose|no-ansi)$/,
  values:
    /^-[fp]$|^--(?:file|project-name|profile|env-file|project-directory|ansi|progress|parallel)$/,
};
/** What all package managers of Node.js mean alike; `-w` takes a value in one of them. */
const NODE_FLAGS =
  /^-(?:[sqgyfrDB]|d+)$|^--(?:silent|quiet|verbose|global|yes|json|force|recursive|workspaces|if-present|ignore-scripts|no-[a-z-]+)$/;
const PNPM_FLAGS = new RegExp(`^-w$|^--workspace-root$|${NODE_FLAGS.source}`);
const YARN_FLAGS = new RegExp(
  `^-[AiptvRTW]+$|^--(?:all|parallel|topological|topological-dev|interlaced)$|${NODE_FLAGS.source}`,
);
const APT: CommandForms = {
  flags: /^-[yqms]+$|^--(?:yes|assume-yes|quiet|simulate|no-install-recommends)$/,
  values: /^-[oct]$|^--(?:option|config-file|target-release|default-release)$/,
};
const MAKE: CommandForms = {
  // Without a number behind them `-j` and `-l` take none: what stands there is a goal.
  flags:
    /^-[BdehijklmnpqrRsStvw]+$|^-[BdehikmnpqrRsStvw]*[jl][\d.]+$|^--(?:always-make|ignore-errors|jobs|load-average|max-load|keep-going|silent|quiet|dry-run|just-print|question|touch|trace|(?:no-)?print-directory|no-builtin-rules)$/,
  values:
    /^-[BdehijklmnpqrRsStvw]*[CEfIoW]$|^--(?:directory|eval|file|makefile|include-dir|old-file|assume-old|what-if|new-file|assume-new)$/,
  goals: true,
};

const KUBECTL_VALUES =
  /^-[nsv]$|^--(?:namespace|context|kubeconfig|cluster|server|user|token|as|as-group|request-timeout|cache-dir|certificate-authority|client-certificate|client-key|profile)$/;
const KUBECTL: CommandForms = { values: KUBECTL_VALUES };

/** A property is a word of its own: `-Dname=value`. */
const MAVEN: CommandForms = {
  flags:
    /^-(?:[BCNUVXceoq]|am|amd|cpu|ff|fae|fn|ntp|npr|npu|nsu)$|^-D.|^-T.|^--(?:batch-mode|quiet|offline|errors|debug|update-snapshots|no-transfer-progress|show-version|non-recursive|also-make|also-make-dependents|fail-(?:fast|at-end|never))$/,
  values:
    /^-(?:[DPTbflst]|gs|gt|pl|rf|emp|ep)$|^--(?:activate-profiles|file|projects|resume-from|settings|global-settings|threads|log-file|define)$/,
  goals: true,
};
const GRADLE: CommandForms = {
  flags:
    /^-[adhimqSsvw?]$|^-[DP].+|^--(?:no-daemon|daemon|quiet|info|debug|warn|stacktrace|full-stacktrace|scan|no-scan|parallel|no-parallel|build-cache|no-build-cache|configuration-cache|no-configuration-cache|offline|rerun-tasks|continue|dry-run|continuous|refresh-dependencies|stop|status|profile|foreground)$/,
  values:
    /^-[bcgIpxDPMF]$|^--(?:build-file|settings-file|gradle-user-home|init-script|project-dir|exclude-task|max-workers|console|warning-mode|include-build|tests|priority|dependency-verification)$/,
  goals: true,
};

const FLY: CommandForms = {
  flags: /^-j$|^--(?:debug|verbose|json)$/,
  values: /^-[acto]$|^--(?:app|config|access-token|org)$/,
};
const PYTHON_PROJECT: CommandForms = {
  flags:
    /^-[vqn]+$|^--(?:verbose|quiet|(?:no-)?(?:color|interactive)|non-interactive|ignore-python)$/,
  values: /^-[ecp]$|^--(?:env|config|project|data-dir|cache-dir)$/,
};

const OPTIONS: Readonly<Record<string, CommandForms>> = {
  pip: PIP,
  pip3: PIP,
  npm: {
    flags: NODE_FLAGS,
    values:
      /^-[wC]$|^--(?:workspace|prefix|userconfig|registry|loglevel|cache|otp|tag|access|omit)$/,
  },
  pnpm: { flags: PNPM_FLAGS, values: /^-[CF]$|^--(?:dir|filter|registry|loglevel)$/ },
  yarn: { flags: YARN_FLAGS, values: /^--(?:cwd|registry|include|exclude|from)$/ },
  bun: {
    flags: /^-[bi]$|^--(?:bun|silent|watch|hot|smol|no-[a-z-]+)$/,
    values: /^-F$|^--(?:cwd|filter|config|env-file)$/,
  },
  poetry: {
    flags: /^-(?:[qn]|v+)$|^--(?:quiet|verbose|no-interaction|no-plugins|no-cache|(?:no-)?ansi)$/,
    values: /^-[CP]$|^--(?:directory|project)$/,
  },
  uv: {
    flags:
      /^-(?:[qvn]+)$|^--(?:quiet|verbose|no-cache|offline|native-tls|no-config|no-progress|no-python-downloads|managed-python)$/,
    values: /^--(?:directory|project|config-file|cache-dir|color|allow-insecure-host)$/,
  },
  twine: { flags: /^--no-color$/ },
  conda: { flags: /^-[vq]+$|^--no-plugins$/ },
  bundle: { flags: /^--(?:verbose|no-color)$/, values: /^--retry$/ },
  cargo: {
    flags: /^\+|^-[vq]+$|^--(?:verbose|quiet|locked|offline|frozen)$/,
    values: /^-[CZ]$|^--(?:config|color|manifest-path)$/,
    joined: /^\+/,
  },
  go: { values: /^-C$/ },
  make: MAKE,
  mvn: MAVEN,
  mvnw: MAVEN,
  gradle: GRADLE,
  gradlew: GRADLE,
  apt: APT,
  "apt-get": APT,
  docker: DOCKER,
  podman: DOCKER,
  nerdctl: DOCKER,
  "docker compose": COMPOSE,
  "podman compose": COMPOSE,
  "nerdctl compose": COMPOSE,
  kubectl: KUBECTL,
  oc: KUBECTL,
  helm: {
    flags: /^--debug$/,
    values: /^-n$|^--(?:namespace|kube-context|kubeconfig|registry-config)$/,
  },
  terraform: { flags: /^-(?:help|version)$/ },
  gh: { values: /^-R$|^--(?:repo|hostname)$/ },
  aws: {
    flags:
      /^--(?:debug|no-verify-ssl|no-paginate|no-sign-request|no-cli-pager|(?:no-)?cli-auto-prompt)$/,
    values:
      /^--(?:endpoint-url|output|query|profile|region|color|ca-bundle|cli-read-timeout|cli-connect-timeout|cli-binary-format)$/,
  },
  gcloud: {
    flags: /^-q$|^--(?:quiet|log-http|no-user-output-enabled)$/,
    values:
      /^--(?:account|billing-project|configuration|format|impersonate-service-account|project|region|verbosity|zone)$/,
  },
  cdk: {
    flags: /^-[vji]+$|^--(?:verbose|debug|trace|strict|json|ci|lookups|no-[a-z-]+)$/,
    values:
      /^-[acpro]$|^--(?:app|context|plugin|profile|region|role-arn|output|proxy|ca-bundle-path|toolkit-stack-name)$/,
  },
  firebase: {
    flags: /^-[ji]$|^--(?:json|debug|interactive|non-interactive)$/,
    values: /^-[Pc]$|^--(?:project|config|account|token)$/,
  },
  fly: FLY,
  flyctl: FLY,
  hatch: PYTHON_PROJECT,
  pdm: PYTHON_PROJECT,
  netlify: { flags: /^--(?:debug|silent)$/, values: /^--(?:auth|filter|cwd|site)$/ },
  serverless: {
    flags: /^--(?:verbose|debug)$/,
    values: /^-[srcp]$|^--(?:stage|region|config|aws-profile|org|app|param|package)$/,
  },
  wrangler: { values: /^-[ce]$|^--(?:config|env|env-file|cwd)$/ },
  systemctl: {
    flags: /^-[aqlr]+$|^--(?:user|system|global|quiet|no-pager|all|full|now|failed)$/,
    values:
      /^-[HMtpno]$|^--(?:host|machine|type|state|property|lines|output|root|kill-whom|signal)$/,
  },
  "kubectl create": {
    flags: /^--(?:edit|validate|save-config)$/,
    values: new RegExp(
      `^-[fkRlo]$|^--(?:filename|kustomize|dry-run|output|raw|selector)$|${KUBECTL_VALUES.source}`,
    ),
  },
  "git stash": {
    flags: /^-[kuaqSpW]+$|^--(?:keep-index|include-untracked|all|quiet|staged|patch)$/,
    values: /^-[kuaqS]*m$|^--message$/,
  },
  "git subtree": {
    flags: /^-[qd]$|^--(?:quiet|debug)$/,
    values: /^-[Pmb]$|^--(?:prefix|message)$/,
  },
};

/** Options of a program, or of a group of its subcommands; null: nothing is known of it. */
export function formsOf(command: string): CommandForms | null {
  return Object.hasOwn(OPTIONS, command) ? (OPTIONS[command] ?? null) : null;
}
