/** Terminals that go on by themselves: `tmux new -d 'npm start'`, `tmux send-keys 'npm test' Enter`, `screen -dm npm start`. */
import { afterOptions, type OptionForms, type Ran, ranByText, UNSEEN, type Words } from "./ran.ts";
import type { ShellWord } from "./shell-line.ts";

/** Null: it is none of them. */
export function ranByTerminal(name: string, words: Words): Ran | null {
  if (name === "tmux") return ranByTmux(words);
  return name === "screen" ? ranByScreen(words) : null;
}

const NOTHING: Ran = { floor: "run", commands: [], lines: [], hidden: false };

/** What stands in `tmux -c` is a text for a shell, and in `-f` a file of commands. */
const TMUX: OptionForms = {
  flags: /^-[2CDlNuv]+$|^-[2CDlNuv]*[LST].+$/,
  values: /^-[2CDlNuv]*[LST]$/,
};

/** Its commands stand one after the other, with a semicolon between them. */
function ranByTmux(words: Words): Ran {
  const commands: ShellWord[][] = [[]];
  for (const word of words.slice(afterOptions(words, TMUX))) {
    const text = word.text.endsWith("\\;") ? word.text : word.text.replace(/;$/, "");
    if (text !== "" || word.open) commands.at(-1)?.push({ ...word, text });
    if (text !== word.text) commands.push([]);
  }
  return both(commands.map(ranByTmuxCommand));
}

/** They show, choose, move or end what there is. */
const MANAGES =
  /^(?:a|at|attach|has|ls|ls[cpw]|start|wait|(?:select|kill|resize|rename|swap|last|next|previous|prev|move|break|join|list|show|switch|detach)[a-z-]*|(?:attach|has)-session|start-server|wait-for|capturep?|capture-pane|clear-history|display|display-message|setw?|set-(?:window-)?option)$/;
/** A value with a program in it. */
const RUNS = /#\(|command|shell|hook|editor/;

/** They open a terminal for a command. */
const OPENS =
  /^(?:new|new-session|neww|new-window|splitw|split-window|respawn[pw]|respawn-(?:pane|window))$/;
const OPENING: OptionForms = {
  flags: /^-[AabdDEhIkPSvXZ]+$|^-[AabdDEhIkPSvXZ]*[ceFlnpstxy].+$/,
  values: /^-[AabdDEhIkPSvXZ]*[ceFlnpstxy]$/,
};
const SENDS = /^send(?:-keys)?$/;
const SENDING: OptionForms = { flags: /^-[lR]+$|^-[lR]*[cNt].+$/, values: /^-[lR]*[cNt]$/ };

function ranByTmuxCommand(words: Words): Ran {
  const [command] = words;
  if (command === undefined) return NOTHING;
  const { text, open } = command;
  if (open || words.some((word) => word.splits || word.text.includes("#("))) return UNSEEN;
  if (SENDS.test(text)) return ranByKeys(words.slice(afterOptions(words, SENDING)));
  if (OPENS.test(text)) return ranIn(words.slice(afterOptions(words, OPENING)));
  return MANAGES.test(text) && !words.some((word) => RUNS.test(word.text)) ? NOTHING : UNSEEN;
}

/** One word is a text for a shell, several are a command. */
function ranIn(inner: Words): Ran {
  const [command] = inner;
  if (command === undefined) return NOTHING;
  if (command.text.startsWith("-") || command.startsOpen) return UNSEEN;
  if (inner.length === 1) return ranByText(inner);
  return command.open ? UNSEEN : { floor: "run", commands: [inner], lines: [], hidden: false };
}

const ENTER = /^(?:Enter|KPEnter|C-[mjMJ]|\^[MmJj])$/;
const KEY =
  /^(?:(?:[CMS]-)+.|\^.|Up|Down|Left|Right|Escape|B?Tab|BSpace|DC|IC|End|Home|NPage|PPage|Page(?:Up|Down)|PgUp|PgDn|F\d+)$/;

/** What is written, without blanks between the words; keys beside it write nothing. */
function ranByKeys(keys: Words): Ran {
  if (keys[0]?.text.startsWith("-") === true) return UNSEEN;
  let written = "";
  for (const { text } of keys) {
    if (ENTER.test(text)) written += "\n";
    else if (text === "Space") written += " ";
    else if (!KEY.test(text)) written += text;
  }
  return ranByWritten(written, keys);
}

function ranByWritten(text: string, words: Words): Ran {
  const hidden = words.some(({ open }) => open);
  return text.trim() === "" && !hidden ? NOTHING : { ...NOTHING, lines: [text], hidden };
}

const SCREEN: OptionForms = {
  flags: /^-[aAdDmnOqUxrR]+$|^-(?:ls|list|wipe|v)$|^-[aAdDmnOqUxrR]*[eghpStT].+$/,
  values: /^-[aAdDmnOqUxrR]*[eghpStT]$/,
};
const SCREEN_MANAGES = /^(?:quit|kill|hardcopy|select|title|detach|redisplay|sessionname|number)$/;

/** They go to a session that there is, whose name may stand behind them. */
const ATTACHES = /^-[aAdDnOqUxrR]*[dDrRx]/;
/** A new one is made. */
const CREATES = /^-[aAdDnOqUxrR]*m/;

/** The name behind `-r` may be a command for all that the words say, but before `-X`. */
function ranByScreen(words: Words): Ran {
  const at = afterOptions(words, SCREEN);
  const inner = words.slice(at);
  if (inner.some(({ splits }) => splits)) return UNSEEN;
  const options = words.slice(1, at);
  const isNew = options.some(({ text }) => CREATES.test(text));
  const named = !isNew && options.some(({ text }) => ATTACHES.test(text)) ? inner.length : 1;
  const sent = inner.slice(0, named).findIndex(({ text, open }) => text === "-X" && !open);
  return sent < 0 ? ranAsCommand(inner) : ranBySent(inner.slice(sent + 1));
}

/** A command for the session: `-X stuff text` writes the text. */
function ranBySent([command, ...given]: Words): Ran {
  if (command === undefined || command.open) return UNSEEN;
  if (SCREEN_MANAGES.test(command.text)) return NOTHING;
  if (command.text !== "stuff") return UNSEEN;
  const written = given.map(({ text }) => text).join(" ");
  return ranByWritten(written.replaceAll(/\\[nr]|\^[MJmj]|\\01[25]|\r/g, "\n"), given);
}

function ranAsCommand(inner: Words): Ran {
  const [command] = inner;
  if (command === undefined) return NOTHING;
  if (command.open || command.text.startsWith("-")) return UNSEEN;
  return { floor: "run", commands: [inner], lines: [], hidden: false };
}

function both(all: readonly Ran[]): Ran {
  return {
    floor: all.some(({ floor }) => floor === "write") ? "write" : "run",
    commands: all.flatMap(({ commands }) => commands),
    lines: all.flatMap(({ lines }) => lines),
    hidden: all.some(({ hidden }) => hidden),
  };
}
