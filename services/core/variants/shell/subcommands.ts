/** Programs whose first word says what they do: package managers, containers, services. */
import type { VariantClass } from "../variant-class.ts";
import { optionWords, type ShellWord } from "./shell-line.ts";

interface Subcommands {
  readonly read?: string;
  readonly watch?: string;
  readonly run?: string;
  /** What every other subcommand is. */
  readonly other: VariantClass;
}

const SUBCOMMANDS: Readonly<Record<string, Subcommands>> = {
  pip: { read: "list show freeze check", other: "write" },
  pip3: { read: "list show freeze check", other: "write" },
  npm: {
    read: "ls list root prefix",
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
  yarn: { read: "list why", watch: "info outdated", run: "test run start", other: "write" },
  cargo: {
    watch: "search",
    run: "build check test run clippy bench doc tree metadata",
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
  docker: {
    read: "version info",
    watch: "ps images logs inspect top stats port",
    run: "exec run compose build",
    other: "write",
  },
  podman: {
    read: "version info",
    watch: "ps images logs inspect top stats port",
    run: "exec run compose build",
    other: "write",
  },
  kubectl: {
    read: "version api-resources explain",
    watch: "get describe logs top cluster-info",
    run: "exec run",
    other: "write",
  },
  helm: { read: "version", watch: "list status get history", other: "write" },
  systemctl: {
    watch: "status is-active is-enabled list-units list-unit-files show cat",
    other: "write",
  },
  terraform: { read: "version", watch: "show output", other: "write" },
};

const READ_ONLY_WORDS = new Map(
  Object.entries(SUBCOMMANDS).map(([program, { read, watch, run, other }]) => {
    const words = new Map<string, VariantClass>();
    const add = (text: string | undefined, one: VariantClass): void => {
      for (const word of text?.split(" ") ?? []) words.set(word, one);
    };
    add(read, "read");
    add(watch, "watch");
    add(run, "run");
    return [program, { words, other }] as const;
  }),
);

/** Options that write a file or run something, whatever the subcommand is. */
const ACTING =
  /^--(?:log|logs-dir|cache|pipe|eval|define|load|macros|rcfile|output-dir.*|profile-output|python)(?:=|$)|^-[ED]/;

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
  if (words.some(({ text }) => ACTING.test(text))) return "write";
  const found = known.words.get(plain[1]?.text ?? "") ?? known.other;
  const mayAct = optionWords(plain).some(({ startsOpen }) => startsOpen);
  // A word that may turn out to be an option acts no more than a target of `make` does.
  return mayAct && known.other !== "run" ? "write" : found;
}
