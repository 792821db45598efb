/** Subcommands that have subcommands: `docker compose -f a down`, `npm run -s publish`, `yarn workspace a publish`. */
import { plainWord } from "./names.ts";
import { formsOf } from "./option-forms.ts";
import { placesOf } from "./places.ts";
import type { Words } from "./ran.ts";
import { textOf } from "./shell-line.ts";

/** A command without options before its subcommand. */
export interface Spelled {
  readonly words: Words;
  /** Where what belongs to the subcommand begins. */
  readonly from: number;
}

/** Spellings of one command, by their texts. */
export interface TextDraft {
  readonly commands: ReadonlyMap<string, Spelled>;
  /** There are more of them than are looked at. */
  readonly isFull: boolean;
  /** `head`: the words before the subcommand. */
  add(head: Words, rest: Words): void;
  /** There are others that are not looked at. */
  giveUp(): void;
  /** Groups of which another subcommand may run than the words say, by their names. */
  readonly openGroups: ReadonlySet<string>;
  /** Nobody sees which program of the machine one of them runs. */
  readonly isHidden: boolean;
  leaveOpen(group: string): void;
  hide(): void;
}

/** Each of them is as long as the line may be. */
const TEXTS_MAX = 18;

export function textDraft(): TextDraft {
  const commands = new Map<string, Spelled>();
  const openGroups = new Set<string>();
  let isFull = false;
  let isHidden = false;
  return {
    commands,
    openGroups,
    get isFull() {
      return isFull;
    },
    get isHidden() {
      return isHidden;
    },
    add(head, rest) {
      const words = [...head, ...rest];
      if (commands.size >= TEXTS_MAX) isFull = true;
      else commands.set(textOf(words), { words, from: head.length + 1 });
    },
    giveUp() {
      isFull = true;
    },
    leaveOpen(group) {
      openGroups.add(group);
    },
    hide() {
      isHidden = true;
    },
  };
}

interface Group {
  /** How the commands in it begin. */
  readonly head: Words;
  /** Where their options and their subcommands begin. */
  readonly from: number;
}

/** Groups in groups. */
const DEPTH_MAX = 4;

/** `rest`: the words from a subcommand on. */
export function addGroups(head: Words, rest: Words, draft: TextDraft, depth = 0): void {
  const group = groupOf(head, rest);
  if (group === null || draft.isFull) return;
  if (depth >= DEPTH_MAX) {
    draft.giveUp();
    return;
  }
  const command = textOf(group.head);
  const forms = formsOf(command) ?? formsOf(head[0]?.text ?? "") ?? {};
  const { found, unseen, mayBeOther } = placesOf(rest, forms, group.from);
  if (unseen && RUNS_OTHERS.test(command)) draft.hide();
  else if (mayBeOther || (unseen && hasOwn(group.head))) draft.leaveOpen(command);
  for (const at of found) {
    const inner = rest.slice(at);
    draft.add(group.head, inner);
    if (command === "docker compose") draft.add([DOCKER_COMPOSE], inner);
    addGroups(group.head, inner, draft, depth + 1);
  }
}

const GROUP =
  /^(?:(?:docker|podman|nerdctl) (?:compose|image|container|volume|network|manifest|buildx|system|context)|(?:npm|pnpm|yarn|bun) run|git (?:subtree|lfs|remote|stash|submodule|worktree)|kubectl (?:rollout|config|set|auth|create)|(?:gh|aws|helm) [a-z][\w-]*|gcloud [a-z][\w-]*(?: [a-z][\w-]*){0,2})$/;

/** Their subcommands run programs of the project or of the machine. */
const RUNS_OTHERS = /^(?:yarn|bun|git submodule)(?: |$)/;

/** Programs take further words for groups: these have operands, and no subcommands. */
const ENDS =
  /^(?:gh (?:api|browse|completion|status)|helm (?:completion|create|history|install|lint|list|ls|package|pull|push|rollback|status|template|test|uninstall|upgrade|verify)|gcloud .* ?(?:create|delete|deploy|describe|disable|enable|get|invoke|list|login|read|remove|reset|rsync|scp|set|ssh|start|stop|submit|tail|update|upload|(?:add|cp|get|list|ls|print|remove|rm|set)-?[a-z-]*))$/;

function hasOwn(head: Words): boolean {
  return !ENDS.test(textOf(head));
}

function groupOf(head: Words, rest: Words): Group | null {
  const [sub, next] = rest;
  if (sub === undefined || next === undefined || sub.open) return null;
  const named = RUN_TOO.has(sub.text) ? { ...sub, text: "run" } : sub;
  const inner = [...head, named];
  const command = textOf(inner);
  if (command === "yarn workspace") return { head, from: 2 };
  if (command === "yarn workspaces" && /^(?:foreach|run)$/.test(next.text))
    return { head, from: 2 };
  return GROUP.test(command) ? { head: inner, from: 1 } : null;
}

/** Other names of `npm run`. */
const RUN_TOO = new Set(["run-script", "rum", "urn"]);

const DOCKER_COMPOSE = plainWord("docker-compose");
