/** How the words of tools stand that run programs of the project or of the machine. */
import type { OptionForms } from "./ran.ts";

export interface Runner extends OptionForms {
  /** Subcommands that run what follows; none: all its words are what it runs. */
  readonly subcommands?: RegExp;
  /** Options whose value is a text for a shell. */
  readonly text?: RegExp;
  /** The text is all words behind the option. */
  readonly takesAll?: boolean;
  /** Words behind the text may belong to it. */
  readonly takesRest?: boolean;
  /** Without such a text its words name no command. */
  readonly onlyText?: boolean;
  /** It runs no others than these. */
  readonly only?: RegExp;
  /** Words of its own between its options and the command. */
  readonly operands?: number;
  /** A word of its own that may stand there. */
  readonly skips?: RegExp;
  /** Two hyphens alone begin the command, where they stand. */
  readonly dashes?: boolean;
  /** A word without which its words name no command: that follows it. */
  readonly behind?: RegExp;
  /** `NAME=value` may stand before the command. */
  readonly assigns?: boolean;
  /** Each word that is no option is a text for a shell. */
  readonly takesTexts?: boolean;
}

const NODE: Runner = {
  subcommands: /^(?:exec|x|dlx)$/,
  flags:
    /^-(?:[ysqr]|-)$|^--(?:yes|no|quiet|silent|no-install|ignore-existing|workspaces|recursive|parallel|bun|if-present|include-workspace-root|prefer-offline|prefer-online|offline|no-[a-z-]+)$|^--(?!call=)[a-z-]+=/,
  values: /^-[pwCF]$|^--(?:package|workspace|registry|prefix|filter|dir|cwd|loglevel|cache)$/,
  text: /^(?:-c|--shell-mode)$|^--call(?:=|$)/,
};
const { subcommands: _subcommands, ...NPX } = NODE;
const UV: Runner = {
  subcommands: /^run$/,
  flags:
    /^-(?:[qvnsm]|-)$|^--(?:quiet|verbose|frozen|locked|isolated|dev|active|exact|offline|script|module|all-[a-z-]+|only-[a-z]+|no-[a-z-]+|reinstall|upgrade|refresh|native-tls|managed-python)$|^--[a-z-]+=/,
  values:
    /^-[pPUif]$|^--(?:with|with-editable|with-requirements|from|python|extra|group|env-file|package|project|directory|index|index-url|extra-index-url|find-links|color|cache-dir|config-file)$/,
};
const { subcommands: _run, ...UVX } = UV;

const RUN: Runner = { subcommands: /^run$/, flags: /^--$/ };

const EXEC: Runner = { subcommands: /^exec$/, flags: /^--$/ };
const SECRETS: Runner = {
  ...RUN,
  flags: /^--[a-z][\w-]*=|^--(?:preserve-env|no-fallback|silent|mount-read-only|no-masking)$/,
  values: /^-[pce]$|^--(?:project|config|token|env|env-file|environment|path|account)$/,
  text: /^--command(?:=|$)/,
  dashes: true,
};
const DOTENV: Runner = {
  flags: /^-[op]$|^--(?:override|debug|quiet)$|^--[a-z][\w-]*=/,
  values: /^-[efvd]$|^--(?:file|env-file)$/,
  skips: /^run$/,
  dashes: true,
};
const AS_USER: Runner = { operands: 1 };
const PROXY: Runner = { flags: /^-[qid]$|^--(?:quiet|isolate|debug)$/, values: /^-[afuPp]$/ };
const IN_PLACE: Runner = { ...EXEC, operands: 1, dashes: true };
const TOOLS: Runner = {
  subcommands: /^(?:exec|x)$/,
  flags: /^-[qvy]+$|^--(?:quiet|verbose|yes|raw)$|^--[a-z][\w-]*=/,
  values: /^-[Cj]$|^--(?:cd|jobs)$/,
  text: /^-c$|^--command(?:=|$)/,
  dashes: true,
};
const WSL: Runner = {
  values: /^-[du]$|^--(?:distribution|user|cd)$/,
  flags: /^-e$|^--exec$/,
  dashes: true,
};
const FOR_TOOL: Runner = { behind: /^\/[ck]$/i };

const CONDA: Runner = {
  subcommands: /^run$/,
  flags: /^-v+$|^--(?:no-capture-output|live-stream|dev)?$/,
  values: /^-[npra]$|^--(?:name|prefix|cwd|root-prefix|attach|environment|manifest-path)$/,
};
const WATCHEXEC: Runner = {
  flags:
    /^-[rcpn1v]+$|^--$|^--(?:restart|clear|postpone|no-[a-z-]+|poll|verbose|notify)$|^--[a-z][\w-]*=/,
  values:
    /^-[wWeifsdoEN]$|^--(?:watch|watch-non-recursive|exts|ignore|filter|signal|stop-signal|debounce|delay-run|shell|env|on-busy-update|workdir|project-origin)$/,
};

const RUNNERS: Readonly<Record<string, Runner>> = {
  "cross-env": { assigns: true },
  "cross-env-shell": { assigns: true },
  dotenv: DOTENV,
  "dotenv-cli": DOTENV,
  dotenvx: DOTENV,
  "env-cmd": {
    flags: /^-[xr]$|^--(?:expand-envs|no-override|fallback|silent|verbose|recursive)$/,
    values: /^-[fe]$|^--(?:file|environments|rc-file)$/,
    text: /^--use-shell$/,
    takesAll: true,
  },
  concurrently: {
    flags:
      /^-[kgriP]+$|^--(?:kill-others|kill-others-on-fail|raw|group|no-color|passthrough-arguments|handle-input|timings)$/,
    values:
      /^-[nlptmcs]$|^--(?:names|name-separator|prefix|prefix-length|prefix-colors|timestamp-format|max-processes|success|restart-tries|restart-after|hide|kill-signal|cwd|default-input-target)$/,
    takesTexts: true,
  },
  hyperfine: {
    flags: /^-[Ni]$|^--(?:ignore-failure|show-output)$/,
    values:
      /^-[wrmMSnuL]$|^--(?:warmup|runs|min-runs|max-runs|shell|command-name|time-unit|style|output|input|export-(?:csv|json|markdown|asciidoc|orgmode)|parameter-list)$/,
    takesTexts: true,
  },
  lerna: {
    subcommands: /^exec$/,
    flags:
      /^--$|^--(?:parallel|stream|no-bail|no-prefix|no-private|no-sort|profile)$|^--[a-z][\w-]*=/,
    values: /^--(?:scope|ignore|concurrency|since|loglevel)$/,
  },
  nx: { ...EXEC, dashes: true },
  hatch: { ...RUN, values: /^-e$|^--env$/, dashes: true },
  devbox: RUN,
  volta: { ...RUN, values: /^--(?:node|npm|pnpm|yarn)$/ },
  heroku: { ...RUN, values: /^-[ar]$|^--(?:app|remote|size)$/, dashes: true },
  railway: SECRETS,
  infisical: SECRETS,
  doppler: SECRETS,
  op: SECRETS,
  "aws-vault": IN_PLACE,
  chamber: IN_PLACE,
  lxc: IN_PLACE,
  incus: IN_PLACE,
  direnv: { ...EXEC, operands: 1 },
  asdf: EXEC,
  rbenv: EXEC,
  pyenv: EXEC,
  nodenv: EXEC,
  nvm: { ...EXEC, skips: /^(?:v?\d[\d.]*|node|lts\/.*)$/, flags: /^--(?:silent|lts)?$/ },
  fnm: { ...EXEC, values: /^--using$/, dashes: true },
  mise: TOOLS,
  rtx: TOOLS,
  nix: { subcommands: /^(?:develop|shell)$/, behind: /^(?:-c|--command)$/ },
  "nix-shell": { text: /^--(?:run|command)(?:=|$)/, onlyText: true },
  vagrant: { subcommands: /^ssh$/, text: /^(?:-c|--command(?:=|$))/, onlyText: true },
  nodemon: { text: /^-x$|^--exec(?:=|$)/, onlyText: true, takesRest: true },
  // The group, and a text with or without `-c` before it.
  sg: { takesTexts: true, operands: 1 },
  sshpass: { flags: /^-[ve]$|^-[pfdP].+$/, values: /^-[pfdP]$/ },
  gosu: AS_USER,
  "su-exec": AS_USER,
  setpriv: {
    flags:
      /^--[a-z][\w-]*=|^--(?:clear-groups|keep-groups|init-groups|no-new-privs|nnp|reset-env)$/,
    values:
      /^--(?:ruid|rgid|euid|egid|reuid|regid|groups|inh-caps|ambient-caps|bounding-set|securebits|pdeathsig|selinux-label|apparmor-profile)$/,
  },
  nsenter: {
    flags: /^-[amuinpUCTFZrw]+$|^--[a-z][\w-]*=|^--(?:all|mount|uts|ipc|net|pid|user|cgroup)$/,
    values: /^-[tSGRW]$|^--(?:target|setuid|setgid)$/,
  },
  caffeinate: { flags: /^-[disum]+$/, values: /^-[tw]$/ },
  unbuffer: { flags: /^-p$/ },
  chronic: { flags: /^-[ev]+$/ },
  tini: { flags: /^-[svwg]+$|^--$/, values: /^-[pe]$/ },
  "dumb-init": { flags: /^-[cv]+$|^--(?:single-child|verbose)?$/, values: /^-r$|^--rewrite$/ },
  torsocks: PROXY,
  proxychains: PROXY,
  proxychains4: PROXY,
  faketime: { flags: /^-[fmp]$/, operands: 1 },
  valgrind: { flags: /^--?[a-z][\w-]*(?:=.*)?$/ },
  perf: { subcommands: /^(?:stat|record|trace)$/, flags: /^-[agdsv]+$|^--$/, values: /^-[eFopr]$/ },
  gdb: { behind: /^--args$/ },
  retry: { dashes: true },
  wsl: WSL,
  "wsl.exe": WSL,
  entr: { flags: /^-[acdnprsxz]+$/, text: /^-[acdnprxz]*s[acdnprxz]*$/ },
  watchexec: WATCHEXEC,
  "xvfb-run": {
    flags: /^-[al]+$|^--(?:auto-servernum|listen-tcp|auto-display)$|^--[a-z][\w-]*=/,
    values: /^-[efnpsw]$|^--(?:error-file|auth-file|server-num|xauth-protocol|server-args|wait)$/,
  },
  fakeroot: { flags: /^-[uv]+$|^--(?:unknown-is-real)?$/, values: /^-[bils]$|^--(?:lib|faked)$/ },
  pkexec: { flags: /^--(?:disable-internal-agent|keep-cwd)$/, values: /^--user$|^-u$/ },
  prlimit: { flags: /^--[a-z][\w-]*=|^-[a-z]+=?.*$|^--(?:verbose)?$/ },
  "systemd-inhibit": {
    flags: /^--[a-z][\w-]*=|^--(?:no-[a-z-]+)?$/,
    values: /^--(?:what|who|why|mode)$/,
  },
  cmd: FOR_TOOL,
  "cmd.exe": FOR_TOOL,

  npm: NODE,
  pnpm: { ...NODE, takesAll: true },
  // A script of the project, or a program of it.
  yarn: { ...NODE, subcommands: /^(?:exec|x|dlx|run)$/ },
  // What is no script of the project is a program of the machine.
  bun: {
    ...NODE,
    subcommands: /^(?:x|run|exec)$/,
    text: /^exec$/,
  },
  npx: NPX,
  pnpx: { ...NPX, takesAll: true },
  bunx: NPX,
  corepack: { only: /^(?:npm|npx|pnpm|pnpx|yarn|yarnpkg)(?:@|$)/ },
  poetry: RUN,
  pipenv: RUN,
  pipx: RUN,
  pdm: RUN,
  rye: RUN,
  uv: UV,
  uvx: UVX,
  bundle: { subcommands: /^exec$/, flags: /^--(?:(?:no-)?keep-file-descriptors)?$/ },
  conda: CONDA,
  mamba: CONDA,
  micromamba: CONDA,
  pixi: CONDA,
};

/** Null: it runs no others. */
export function runnerOf(name: string): Runner | null {
  return Object.hasOwn(RUNNERS, name) ? (RUNNERS[name] ?? null) : null;
}
