/** Commands in containers: `docker exec c git push`, `docker compose run app npm test`, `kubectl exec pod -- ls`. */
import { afterOptions, type OptionForms, type Ran, UNSEEN, type Words } from "./ran.ts";
import { endOfOptions, type ShellWord, textOf } from "./shell-line.ts";
import { spellSubcommand } from "./spell-subcommand.ts";
import type { Spelled } from "./subcommand-groups.ts";

const DOCKER: OptionForms = {
  flags:
    /^-[ditPqT]+$|^--(?:detach|interactive|tty|rm|init|privileged|publish-all|read-only|no-healthcheck|oom-kill-disable|quiet|no-deps|no-TTY|service-ports|use-aliases|remove-orphans|build|quiet-pull|quiet-build|replace|rmi|no-hosts|rootfs|latest|env-host|http-proxy|tls-verify)$/,
  values:
    /^-[ditPqT]*[acehlmpuvw]$|^--(?:add-host|annotation|arch|attach|authfile|blkio-weight|blkio-weight-device|cap-add|cap-drop|cgroup-parent|cgroupns|cidfile|cpu-count|cpu-percent|cpu-period|cpu-quota|cpu-rt-period|cpu-rt-runtime|cpu-shares|cpus|cpuset-cpus|cpuset-mems|detach-keys|device|device-cgroup-rule|device-read-bps|device-read-iops|device-write-bps|device-write-iops|dns|dns-opt|dns-option|dns-search|domainname|entrypoint|env|env-file|env-from-file|expose|gidmap|gpus|group-add|health-cmd|health-interval|health-retries|health-start-interval|health-start-period|health-timeout|hostname|index|ip|ip6|ipc|isolation|label|label-file|link|link-local-ip|log-driver|log-opt|mac-address|memory|memory-reservation|memory-swap|memory-swappiness|mount|name|net|net-alias|network|network-alias|oom-score-adj|os|pid|pids-limit|platform|pod|preserve-fds|publish|pull|restart|runtime|secret|security-opt|shm-size|stop-signal|stop-timeout|storage-opt|sysctl|timeout|tmpfs|tz|uidmap|ulimit|umask|user|userns|uts|variant|volume|volume-driver|volumes-from|workdir)$/,
};
/** The value may be unseen. */
const DOCKER_JOINED = /^-[ditPqT]*[acehlmpuvw].|^--[a-z][\w-]*=/;
const KUBECTL: OptionForms = {
  flags: /^-[itq]+$|^--(?:stdin|tty|quiet)$|^--[a-z][\w-]*=/,
  values:
    /^-[cnf]$|^--(?:container|namespace|context|filename|kubeconfig|pod-running-timeout|cluster|user)$/,
};

const IN_DOCKER = /^(?:docker|podman|nerdctl)(?: (?:compose|container))? (?:exec|run)$/;
const IN_CLUSTER = /^(?:kubectl|oc) (?:exec|run|debug|rsh|create (?:cron)?job)$/;
const CREATES = /^(?:kubectl|oc) create /;

/** Null: it runs no command that its words name. */
export function ranInContainer(name: string, words: Words): Ran | null {
  if (!/^(?:docker|podman|nerdctl|kubectl|oc)$/.test(name)) return null;
  const { commands, plain } = spellSubcommand(words);
  const floor = plain === null || CREATES.test(textOf(plain)) ? "write" : "run";
  const found = commands.map(ranBySpelled).filter((one) => one !== null);
  if (found.length === 0) return null;
  if (found.some(({ hidden }) => hidden)) return UNSEEN;
  return { floor, commands: found.flatMap((one) => one.commands), lines: [], hidden: false };
}

function ranBySpelled({ words, from }: Spelled): Ran | null {
  const command = textOf(words.slice(0, from));
  if (IN_DOCKER.test(command)) return ranInDocker(words.slice(from));
  return IN_CLUSTER.test(command) ? ranInCluster(words.slice(from)) : null;
}

/** Behind an option that is not known stands its value, or the container: so many are looked behind. */
const UNKNOWN_MAX = 4;

interface Readings {
  /** What may stand behind the container. */
  readonly likely: readonly Words[];
  /** The same, if a word that is not seen is no container. */
  readonly aside: readonly Words[];
}

/** `rest`: the words behind the subcommand. */
function ranInDocker(rest: Words): Ran | null {
  const read = readDocker(rest);
  if (read === null) return UNSEEN;
  const entry = entryOf(rest);
  if (entry?.open === true) return UNSEEN;
  const likely = entry === null ? read.likely.filter(isCommand) : read.likely;
  if (entry === null && likely.some(([word]) => word?.open === true)) return UNSEEN;
  const aside = read.aside.filter((words) => isCommand(words) && words[0]?.open === false);
  const all = entry === null ? [...likely, ...aside] : likely.map((args) => [entry, ...args]);
  return all.length === 0 ? null : { floor: "run", commands: all, lines: [], hidden: false };
}

/** What begins with a hyphen is for the program of the image. */
function isCommand([word]: Words): boolean {
  return word !== undefined && !word.text.startsWith("-");
}

function readDocker(words: Words): Readings | null {
  const likely: Words[] = [];
  const aside: Words[] = [];
  let found = likely;
  let at = 0;
  for (let left = UNKNOWN_MAX; ; left -= 1) {
    at = afterDockerOptions(words, at);
    const word = words[at];
    if (word === undefined) return { likely, aside };
    const isOption = word.text.startsWith("-");
    found.push(words.slice(isOption ? at + 2 : at + 1));
    if (!isOption && !mayBeNone(word)) return { likely, aside };
    if (left === 0) return null;
    if (!isOption) found = aside;
    at += isOption ? 2 : 1;
  }
}

function afterDockerOptions(words: Words, from: number): number {
  let at = from;
  for (;;) {
    const next = afterOptions(words, DOCKER, at);
    const word = words[next];
    const isJoined = word !== undefined && !word.splits && DOCKER_JOINED.test(word.text);
    if (!isJoined) return next;
    at = next + 1;
  }
}

/** It may be an option, or nothing. */
function mayBeNone({ text, open, splits, isBare }: ShellWord): boolean {
  return text === "" && open && (splits || isBare === true);
}

/** `--entrypoint`: the program that the words behind the image are for; an empty one is none. */
function entryOf(words: Words): ShellWord | null {
  const at = words.findIndex(({ text }) => /^--entrypoint(?:=|$)/.test(text));
  const word = words[at];
  const isJoined = word?.text.includes("=") === true;
  const entry = isJoined ? { ...word, text: word.text.slice(13) } : words[at + 1];
  return word === undefined || entry === undefined || isNothing(entry) ? null : entry;
}

function isNothing({ text, open }: ShellWord): boolean {
  return text === "" && !open;
}

/** Behind two hyphens; older versions take the words behind the name of the pod. */
function ranInCluster(rest: Words): Ran | null {
  const end = endOfOptions(rest);
  const podAt = afterOptions(rest, KUBECTL, 0);
  const at = end < rest.length ? end + 1 : afterOptions(rest, KUBECTL, podAt + 1);
  const inner = rest.slice(at);
  if (!isCommand(inner)) return null;
  if (inner[0]?.open === true) return UNSEEN;
  return { floor: "run", commands: [inner], lines: [], hidden: false };
}
