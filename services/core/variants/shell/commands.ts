/** What commands do, by their names and options. What is not named here may do anything. */
import type { VariantClass } from "../variant-class.ts";
import { classifyGit } from "./git.ts";
import { formsOf } from "./option-forms.ts";
import { isPrintingAwk, isPrintingSed } from "./scripts.ts";
import { optionWords, type ShellWord } from "./shell-line.ts";
import { classOfTool, hasSubcommands } from "./subcommands.ts";

type Classify = (words: readonly ShellWord[]) => VariantClass;

function names(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** They read, whatever their options are. */
const READS = names(`
  ls dir vdir cat grep egrep fgrep zgrep pwd echo which whereis type stat du diff cmp comm cut tr
  column nl od hexdump strings md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum basename dirname
  realpath readlink true false : seq expr rev tac fold fmt paste join head wc id whoami groups uname
  nproc getconf locale tty printenv getent lscpu lsblk lsb_release jq zcat bzcat xzcat zipinfo objdump readelf
  cal factor look numfmt tsort zdiff zcmp
`);

/** They read something that moves by itself. */
const WATCHES = names(`
  ps uptime free df netstat lsof w who last vmstat iostat mpstat ping ping6 dig nslookup host pstree top pgrep pidof
`);

/** They change what their words name. */
const WRITES = names(`
  rm mv cp mkdir rmdir touch chmod chown chgrp ln install dd truncate shred split csplit mkfifo mknod mktemp patch ed ex
  vi vim nano emacs kill pkill killall killall5 reboot shutdown halt poweroff mount umount useradd userdel usermod
  groupadd groupdel passwd chpasswd apt-get aptitude dnf yum apk pacman zypper snap unzip gunzip bunzip2 unxz bzip2 xz
  gzip 7z zip rsync scp sftp wget svn hg at batch mail sendmail iptables nft sysctl modprobe insmod rmmod service setfacl
`);

/** `option` words that make a reading command write; every one of them may be joined with others. */
interface Options {
  /** Letters of short options. */
  readonly letters: string;
  /** Long options, also in the beginning of their spelling. */
  readonly long: readonly string[];
}

/** Reads, unless one of these options is given, or a word may turn out to be one. */
function readsBut(letters: string, ...long: readonly string[]): Classify {
  const options: Options = { letters, long };
  return (words) => (optionWords(words).some((word) => mayBe(word, options)) ? "write" : "read");
}

function mayBe({ text, startsOpen }: ShellWord, { letters, long }: Options): boolean {
  if (startsOpen) return true;
  if (text.startsWith("--")) {
    const [name = ""] = text.slice(2).split("=");
    // GNU programs take any beginning of a long option that has one reading.
    return name !== "" && long.some((option) => option.startsWith(name));
  }
  if (!text.startsWith("-")) return false;
  return [...letters].some((letter) => text.includes(letter));
}

/** At most so many words that are no options: one more would be a file to write. */
function readsUpTo(most: number): Classify {
  return (words) => {
    const end = words.findIndex(({ text }) => text === "--");
    const options = end === -1 ? words.length : end;
    const operands = words
      .slice(1)
      .filter(({ text }, at) => !text.startsWith("-") || text === "-" || at >= options);
    return operands.length > most || operands.some(({ startsOpen }) => startsOpen)
      ? "write"
      : "read";
  };
}

/** The first word must be one of these, and nothing else may be an option. */
function onlyAs(allowed: RegExp, found: VariantClass): Classify {
  return (words) =>
    words.slice(1).every(({ text, open }) => !open && allowed.test(text)) ? found : "write";
}

const sortReads = readsBut("oT", "output", "temporary-directory", "compress-program");
/** An index of an array is an expression, and runs the substitutions that stand in it. */
const tests: Classify = (words) =>
  words.some(({ text }) => /\$\(|`/.test(text)) ? "write" : "read";

const lessReads = readsBut(
  "oOktT",
  "log-file",
  "LOG-FILE",
  "lesskey-file",
  "lesskey-src",
  "lesskey-content",
  "tag",
  "tag-file",
);
const rgReads = readsBut("", "pre", "hostname-bin");

const SPECIAL: Readonly<Record<string, Classify>> = {
  test: tests,
  "[": tests,
  "[[": tests,
  sort: sortReads,
  rg: rgReads,
  ag: readsBut("", "pager"),
  tree: readsBut("oR", "output"),
  nm: readsBut("", "plugin"),
  less: (words) => (words.some(({ text }) => text.startsWith("+")) ? "write" : lessReads(words)),
  file: readsBut("C", "compile"),
  tail: (words) => (words.slice(1).some(isFollowed) ? "watch" : "read"),
  uniq: readsUpTo(1),
  xxd: readsUpTo(1),
  base64: readsBut("o", "output"),
  base32: readsBut("o", "output"),
  printf: readsBut("v"),
  yq: readsBut("is", "inplace", "in-place", "split-exp-file"),
  xmllint: readsBut("os", "output", "shell"),
  sed: (words) => (isPrintingSed(words) ? "read" : "write"),
  awk: (words) => (isPrintingAwk(words) ? "read" : "write"),
  gawk: (words) => (isPrintingAwk(words) ? "read" : "write"),
  mawk: (words) => (isPrintingAwk(words) ? "read" : "write"),
  git: classifyGit,
  // A new directory, a variable, an option of the shell: the session changes, nothing else.
  cd: () => "run",
  pushd: () => "run",
  popd: () => "run",
  tee: onlyAs(/^(?:-a|-i|\/dev\/null|\/dev\/stdout|\/dev\/stderr)$/, "read"),
  date: (words) => (setsClock(words) ? "write" : "watch"),
  history: onlyAs(/^\d+$/, "watch"),
  jobs: onlyAs(/^-[lpnrs]$/, "watch"),
  ss: (words) => (words.slice(1).some((word) => mayBe(word, KILLS)) ? "write" : "watch"),
  "nvidia-smi": onlyAs(/^(?:-L|-q|--query-.*|--format=.*)$/, "watch"),
  hostname: onlyAs(/^-[aAdfiIsy]$/, "read"),
  dmesg: onlyAs(/^-[HTxkue]+$/, "watch"),
  crontab: onlyAs(/^-l$/, "read"),
  tar: (words) => (words.slice(1).every(isListing(TAR_LISTS)) ? "read" : "write"),
  unzip: (words) => (words.slice(1).every(isListing(UNZIP_LISTS)) ? "read" : "write"),
  curl: (words) => (isPlainGet(words) ? "watch" : "write"),
  sleep: () => "run",
  wait: () => "run",
};

/** The first word asks for a list, and no later option asks for more. */
const TAR_LISTS = /^(?:-?t[vzjJf]*|--list)$/;
const UNZIP_LISTS = /^-[lvtpZ]+$/;

function isListing(lists: RegExp): (word: ShellWord, index: number) => boolean {
  return ({ text, startsOpen }, index) =>
    index === 0 ? lists.test(text) : !startsOpen && (!text.startsWith("-") || lists.test(text));
}

/** `date` with an operand that is no format sets the clock. */
function setsClock(words: readonly ShellWord[]): boolean {
  for (let at = 1; at < words.length; at++) {
    const { text, startsOpen } = words[at] as ShellWord;
    if (startsOpen || /^-[uR]*s|^--s/.test(text)) return true;
    if (/^-[drf]$/.test(text)) at += 1;
    else if (!/^[+-]/.test(text)) return true;
  }
  return false;
}

const KILLS: Options = { letters: "KD", long: ["kill", "diag"] };

/** A file is looked at from its end while it grows; as a filter, `tail` has options alone. */
function isFollowed({ text, startsOpen }: ShellWord): boolean {
  return startsOpen || !/^-[^fF]*$|^[+]?\d+$/.test(text);
}

/** Options of `curl` that neither send a body nor write a file nor choose another method. */
const CURL_FLAGS =
  /^-[sSkLvigfI#46G]+$|^--(?:silent|show-error|insecure|location|verbose|include|fail|compressed|ipv4|ipv6|get|retry-connrefused|version)$/;
const CURL_VALUES = new Set([
  "-H",
  "--header",
  "-A",
  "--user-agent",
  "-m",
  "--max-time",
  "--connect-timeout",
  "-e",
  "--retry",
  "--retry-delay",
  "--retry-max-time",
  "-u",
  "--user",
]);
/** Their value may name a file. */
const CURL_FORMATS = /^(?:-w|--write-out|-b|--cookie)$/;

const CURL_ASKS = /^(?:-I|--head|-X(?:GET|HEAD)|--request=(?:GET|HEAD))$/;

function isPlainGet(words: readonly ShellWord[]): boolean {
  for (let at = 1; at < words.length; at++) {
    const { text, startsOpen } = words[at] as ShellWord;
    const value = words[at + 1];
    if (startsOpen || OTHER_SCHEME.test(text)) return false;
    if (CURL_VALUES.has(text) || asksFor(text, value)) at += 1;
    else if (text.startsWith("-") && !CURL_FLAGS.test(text) && !CURL_ASKS.test(text)) return false;
  }
  return true;
}

/** Protocols by which an address may carry what it does. */
const OTHER_SCHEME = /^(?!https?:|file:|ftps?:)[a-z][a-z0-9]*:\/\//i;

/** An option whose value keeps it a question: a safe method, an output that is thrown away. */
function asksFor(option: string, given: ShellWord | undefined): boolean {
  const value = given?.text ?? "";
  if (CURL_FORMATS.test(option)) return given?.startsOpen === false && !/^@|%output/.test(value);
  if (option === "-X" || option === "--request") return value === "GET" || value === "HEAD";
  return /^(?:-[sSkLvigfI#46G]*o|--output)$/.test(option) && value === "/dev/null";
}

const BY_NAME: ReadonlyMap<string, VariantClass> = new Map([
  ...READS.map((name) => [name, "read"] as const),
  ...WATCHES.map((name) => [name, "watch"] as const),
  ...WRITES.map((name) => [name, "write"] as const),
]);

/** What it does, or what its subcommands do, is known. */
export function isKnown(command: string): boolean {
  const isNamed = Object.hasOwn(SPECIAL, command) || BY_NAME.has(command);
  return isNamed || hasSubcommands(command) || formsOf(command) !== null;
}

/** Programs that tell their version when asked, and do nothing else then. */
const TELLS_VERSION =
  /^(?:python[\d.]*|pip3?|node|npm|npx|yarn|pnpm|deno|bun|tsc|ruby|gem|perl|php|java|javac|gcc|g\+\+|clang|go|rustc|cargo|make|cmake|docker|bash|sh|zsh|pytest)$/;
const VERSION = /^(?:--version|-V|--help)$/;
/** The short option of others says more than that. */
const TELLS_BY_LETTER = /^(?:node|npm|npx|yarn|pnpm|bun|tsc|docker|ruby|perl|php)$/;

/**
 * The words of one simple command, the command first; its own text is known. `plain`: without the options before its
 * subcommand.
 */
export function classifyCommand(words: readonly ShellWord[], plain = words): VariantClass {
  const command = words[0]?.text ?? "";
  const special = Object.hasOwn(SPECIAL, command) ? SPECIAL[command] : undefined;
  if (special !== undefined) return special(words);
  const known = BY_NAME.get(command);
  if (known !== undefined) return known;
  const [, option] = words;
  const asked = words.length === 2 && option?.open === false ? option.text : "";
  if (VERSION.test(asked) && TELLS_VERSION.test(command)) return "read";
  if (asked === "-v" && TELLS_BY_LETTER.test(command)) return "read";
  return classOfTool(words, plain) ?? "run";
}
