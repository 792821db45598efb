/**
 * Commands without the options before their subcommand, so that rules know `git -C a push` and `npm -w a publish` as
 * `git push` and `npm publish`.
 */
import { afterGitGlobals } from "./git-globals.ts";
import { afterOptions, type OptionForms } from "./ran.ts";
import { mayBeMore, type ShellWord, textOf } from "./shell-line.ts";
import { hasSubcommands } from "./subcommands.ts";

export interface Spellings {
  readonly texts: readonly string[];
  /** Which subcommand it is nobody sees. */
  readonly hidden: boolean;
}

const NONE: Spellings = { texts: [], hidden: false };
const HIDDEN: Spellings = { texts: [], hidden: true };

/** Of a command by its name. */
export function spellSubcommand(words: readonly ShellWord[]): Spellings {
  const [name] = words;
  if (name === undefined) return NONE;
  const places = name.text === "git" ? [afterGitGlobals(words)] : placesOf(name.text, words);
  const texts: string[] = [];
  for (const at of places) {
    if (at === null) return HIDDEN;
    if (at > 1) texts.push(textOf([name, ...words.slice(at)]));
  }
  return { texts, hidden: false };
}

/** Where the subcommand may be; null: it may be one that is not seen. */
type Places = readonly (number | null)[];

function placesOf(program: string, words: readonly ShellWord[]): Places {
  if (OPTION_FIRST.has(program)) return words[1]?.open === true ? [null] : [];
  return hasSubcommands(program) ? subcommandsOf(program, words) : [];
}

/** More options that are not known are not looked through. */
const UNKNOWN_MAX = 16;

/** After an option that is not known stands its value, or the subcommand: both count. */
function subcommandsOf(
  program: string,
  words: readonly ShellWord[],
  from = 1,
  left = UNKNOWN_MAX,
): Places {
  const at = afterOptions(words, OPTIONS[program] ?? {}, from);
  if (words.slice(from, at).some(mayBeMore)) return [null];
  const word = words[at];
  if (word === undefined) return [];
  if (!OPTION.test(word.text)) return [word.open ? null : at];
  const behind = left === 0 ? "unseen" : behindOption(word, words[at + 1]);
  switch (behind) {
    case "unseen":
      return [null];
    case "none":
      return subcommandsOf(program, words, at + 1, left - 1);
    case "word":
      return [at + 1, ...subcommandsOf(program, words, at + 2, left - 1)];
  }
}

/** What stands behind an option that is not known. */
function behindOption(option: ShellWord, next: ShellWord | undefined): "word" | "none" | "unseen" {
  if (mayBeMore(option) && !JOBS.test(option.text)) return "unseen";
  if (next === undefined || option.text.includes("=") || OPTION.test(next.text)) return "none";
  return next.open ? "unseen" : "word";
}

/** Also the two hyphens that end options, and the toolchain of `cargo`. */
const OPTION = /^[-+]\w|^--(?:\w|$)/;

/** `-j$(nproc)` is a number. */
const JOBS = /^-j$|^--jobs=$/;

/** Their first option is what others call a subcommand. */
const OPTION_FIRST = new Set(["dpkg", "rpm"]);

const PIP: OptionForms = {
  flags: /^-(?:[qv]+|y)$|^--(?:quiet|verbose|isolated|no-input|disable-pip-version-check)$/,
  values: /^--(?:proxy|log|timeout|retries|cache-dir|cert|client-cert|python|trusted-host)$/,
};
const DOCKER: OptionForms = {
  flags: /^-D$|^--(?:debug|tls|tlsverify|remote)$/,
  values:
    /^-[Hcl]$|^--(?:host|context|config|log-level|tlscacert|tlscert|tlskey|connection|url|identity|root|runroot)$/,
};
/** What all package managers of Node.js mean alike; `-w` takes a value in one of them. */
const NODE_FLAGS =
  /^-(?:[sqgyfrDB]|d+)$|^--(?:silent|quiet|verbose|global|yes|json|force|recursive|workspaces|if-present|ignore-scripts|no-[a-z-]+)$/;
const APT: OptionForms = { flags: /^-[yqms]+$/, values: /^-[oct]$/ };

const OPTIONS: Readonly<Record<string, OptionForms>> = {
  pip: PIP,
  pip3: PIP,
  npm: {
    flags: NODE_FLAGS,
    values:
      /^-[wC]$|^--(?:workspace|prefix|userconfig|registry|loglevel|cache|otp|tag|access|omit)$/,
  },
  pnpm: { flags: NODE_FLAGS, values: /^-[CF]$|^--(?:dir|filter|registry|loglevel)$/ },
  yarn: { flags: NODE_FLAGS, values: /^--(?:cwd|registry)$/ },
  cargo: {
    flags: /^\+|^-[vq]+$|^--(?:verbose|quiet|locked|offline|frozen)$/,
    values: /^-[CZ]$|^--(?:config|color|manifest-path)$/,
  },
  go: { values: /^-C$/ },
  make: {
    flags:
      /^-[BdehikmnpqrRsStvw]+$|^-j\d+$|^--(?:always-make|ignore-errors|keep-going|silent|quiet|dry-run|just-print|question|touch|trace|(?:no-)?print-directory|no-builtin-rules)$/,
    values:
      /^-[BdehikmnpqrRsStvw]*[CEfIloW]$|^--(?:directory|eval|file|makefile|include-dir|old-file|assume-old|what-if|new-file|assume-new)$/,
  },
  apt: APT,
  docker: DOCKER,
  podman: DOCKER,
  kubectl: {
    values:
      /^-[nsv]$|^--(?:namespace|context|kubeconfig|cluster|server|user|token|as|as-group|request-timeout|cache-dir|certificate-authority|client-certificate|client-key|profile)$/,
  },
  helm: {
    flags: /^--debug$/,
    values: /^-n$|^--(?:namespace|kube-context|kubeconfig|registry-config)$/,
  },
  systemctl: {
    flags: /^-[aqlr]+$|^--(?:user|system|global|quiet|no-pager|all|full|now|failed)$/,
    values:
      /^-[HMtpno]$|^--(?:host|machine|type|state|property|lines|output|root|kill-whom|signal)$/,
  },
};
