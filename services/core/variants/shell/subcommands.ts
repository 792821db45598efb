/** Programs whose first word says what they do: package managers, containers, services. */
import type { VariantClass } from "../variant-class.ts";
import { endOfOptions, optionWords, type ShellWord } from "./shell-line.ts";

/** Subcommands, and those of groups as `image:ls`. */
interface Subcommands {
  readonly read?: string;
  readonly watch?: string;
  readonly run?: string;
  readonly write?: string;
  /** What it is with options alone; default: as every other subcommand. */
  readonly alone?: VariantClass;
  /** What every other subcommand is. */
  readonly other: VariantClass;
}

const CONTAINERS: Subcommands = {
  read: "version info",
  watch:
    "ps images logs inspect top stats port image:ls image:inspect image:history container:ls container:ps container:inspect container:logs container:top " +
    "container:stats container:port volume:ls volume:inspect network:ls network:inspect system:df system:info context:ls context:show",
  run: "exec run compose build",
  other: "write",
};

const SUBCOMMANDS: Readonly<Record<string, Subcommands>> = {
  pip: { read: "list show freeze check", other: "write" },
  pip3: { read: "list show freeze check", other: "write" },
  npm: {
    read: "ls list root prefix config:get config:list config:ls",
    watch: "view info outdated ping whoami",
    run: "test t run run-script start exec",
    other: "write",
  },
  pnpm: {
    read: "ls list root",
    watch: "outdated view",
    run: "test run start exec",
    other: "write",
  },
  // Every other word is a script, or a program of the project.
  yarn: {
    read: "list why bin",
    watch: "info outdated",
    write:
      "add install up upgrade upgrade-interactive remove link unlink init create dlx npm publish pack patch patch-commit plugin set config cache dedupe import " +
      "policies rebuild unplug version versions global login logout owner tag team autoclean audit stage constraints search workspaces workspace npm licenses",
    alone: "write",
    other: "run",
  },
  cargo: {
    watch: "search",
    run: "build check test run clippy bench doc tree metadata fmt nextest",
    other: "write",
  },
  go: { read: "version doc", run: "build test run vet list", other: "write" },
  conda: { read: "list info", other: "write" },
  gem: { read: "list", other: "write" },
  bundle: { read: "list show", run: "exec", other: "write" },
  // What a target does is in a file; a second run says only that nothing is left to do.
  make: { other: "run" },
  apt: { read: "list show policy depends", other: "write" },
  "apt-cache": { read: "show policy search depends madison", other: "run" },
  dpkg: { read: "-l -L -s -S --list --status", other: "write" },
  rpm: { read: "-q -qa -qi -ql", other: "write" },
  brew: { read: "list info deps", other: "write" },
  docker: CONTAINERS,
  podman: CONTAINERS,
  kubectl: {
    read: "version api-resources explain",
    watch: "get describe logs top cluster-info",
    run: "exec run",
    other: "write",
  },
  helm: {
    read: "version",
    watch: "status list get history",
    run: "lint template",
    other: "write",
  },
  systemctl: {
    watch: "status is-active is-enabled list-units list-unit-files show cat",
    other: "write",
  },
  terraform: { read: "version", watch: "show output", run: "plan validate", other: "write" },
};

const READ_ONLY_WORDS = new Map(
  Object.entries(SUBCOMMANDS).map(([program, { read, watch, run, write, alone, other }]) => {
    const words = new Map<string, VariantClass>();
    const add = (text: string | undefined, one: VariantClass): void => {
      for (const word of text?.split(" ") ?? []) words.set(word, one);
    };
    add(read, "read");
    add(watch, "watch");
    add(run, "run");
    add(write, "write");
    return [program, { words, alone: alone ?? other, other }] as const;
  }),
);

/** Options that write a file or run something, whatever the subcommand is. */
const ACTING =
  /^--(?:log|logs-dir|cache|pipe|eval|define|load|macros|rcfile|output-dir.*|profile-output|python)(?:=|$)/;
/** The same, before two hyphens: what stands behind them is for another program. */
const ACTING_LETTER = /^-[ED]/;

/** Whether the first word of it that is no option says what it does. */
export function hasSubcommands(program: string): boolean {
  return READ_ONLY_WORDS.has(program);
}

/**
 * Null: the program is not one of these. `plain`: without the options before the subcommand, where its place is
 * certain.
 */
export function classOfTool(words: readonly ShellWord[], plain = words): VariantClass | null {
  const known = READ_ONLY_WORDS.get(words[0]?.text ?? "");
  if (known === undefined) return null;
  const own = words.slice(0, endOfOptions(words));
  const acts = words.some(({ text }) => ACTING.test(text));
  if (acts || own.some(({ text }) => ACTING_LETTER.test(text))) return "write";
  const [, first, second] = plain.map(({ text }) => text);
  const isAlone = first === undefined || first.startsWith("-");
  const found =
    known.words.get(`${first}:${second}`) ??
    known.words.get(first ?? "") ??
    (isAlone ? known.alone : known.other);
  const mayAct = optionWords(plain).some(({ startsOpen }) => startsOpen);
  // A word that may turn out to be an option acts no more than a target of `make` does.
  return mayAct && (known.other !== "run" || found !== "run") ? "write" : found;
}
