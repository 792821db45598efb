/** Programs that have a shell read their words, here or on another machine. */
import { afterOptions, type OptionForms, type Ran, ranByText, UNSEEN, type Words } from "./ran.ts";

/** Null: it is none of them. */
export function ranAsText(name: string, words: Words): Ran | null {
  switch (name) {
    case "ssh":
      return ranBySsh(words);
    case "watch":
      return ranByWatch(words);
    case "script":
      return ranByScript(words);
    case "parallel":
      return ranByParallel(words);
    default:
      return null;
  }
}

const NOTHING: Ran = { floor: "run", commands: [], lines: [], hidden: false };

const SSH: OptionForms = {
  flags: /^-[46AaCfGgKkMNnqsTtVvXxYy]+$|^-[46AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOopQRSWw].+$/,
  values: /^-[46AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOopQRSWw]$/,
};
/** `-o ProxyCommand=…`, and others that have a program run here. */
const SSH_RUNS = /command|exec|provider/i;
/** Options with which it gives no shell. */
const SSH_WITHOUT_SHELL = /^-[a-zA-Z0-9]*[NVQGOW]/;

/** Options may stand before the host and after it. Without a command, a shell reads the input. */
function ranBySsh(words: Words): Ran {
  const hostAt = afterOptions(words, SSH);
  const host = words[hostAt];
  const at = afterOptions(words, SSH, hostAt + 1);
  const options = [...words.slice(1, hostAt), ...words.slice(hostAt + 1, at)];
  if (options.some(({ text }) => SSH_RUNS.test(text))) return UNSEEN;
  if (host?.startsOpen === true || host?.splits === true) return UNSEEN;
  const inner = words.slice(at);
  const [first] = inner;
  if (first === undefined) {
    return options.some(({ text }) => SSH_WITHOUT_SHELL.test(text)) ? NOTHING : UNSEEN;
  }
  if (host?.text.startsWith("-") === true || first.text.startsWith("-")) return UNSEEN;
  return ranByText(inner);
}

const WATCH: OptionForms = {
  // What follows `d` in its word is the value of `-d`.
  flags:
    /^-[bcCefgprtwx]+(?:d.*)?$|^-d.*$|^-[bcCefgprtwx]*[nqs].+$|^--(?:beep|color|no-color|errexit|chgexit|precise|no-rerun|no-title|no-wrap|exec)$|^--differences(?:=|$)|^--(?:interval|equexit)=/,
  values: /^-[bcCefgprtwx]*[nqs]$|^--(?:interval|equexit)$/,
};
const WATCH_EXECUTES = /^-[bcCefgprtw]*x|^--exec$/;

/** A shell reads its words, unless it is told to run them as they are. */
function ranByWatch(words: Words): Ran {
  const at = afterOptions(words, WATCH);
  const inner = words.slice(at);
  const [command] = inner;
  if (command === undefined) return NOTHING;
  if (command.splits || command.text.startsWith("-")) return UNSEEN;
  if (!words.slice(1, at).some(({ text }) => WATCH_EXECUTES.test(text))) return ranByText(inner);
  return command.open ? UNSEEN : { floor: "run", commands: [inner], lines: [], hidden: false };
}

/** `script -c text`, wherever the option stands; without it a shell reads the input, or the words are a command. */
function ranByScript(words: Words): Ran {
  const lines: string[] = [];
  let hidden = words.slice(1).some(({ splits, startsOpen }) => splits || startsOpen);
  words.forEach(({ text, open }, at) => {
    const joined = /^(?:-[aefq]*c|--command=)(.+)$/s.exec(text)?.[1];
    const takesNext = joined === undefined && /^(?:-[aefq]*c|--command)$/.test(text);
    const given = takesNext ? words[at + 1] : { text: joined, open };
    if (given?.text === undefined) return;
    lines.push(given.text);
    hidden ||= given.open;
  });
  return lines.length === 0 ? UNSEEN : { floor: "run", commands: [], lines, hidden };
}

const PARALLEL: OptionForms = {
  flags:
    /^-(?:[0kmX]|[jPnNL]\d+%?)$|^--(?:bar|eta|progress|keep-order|null|will-cite|line-buffer|lb|group)$|^--(?:jobs|delay|timeout|retries|halt)=/,
  values: /^-[ajPnNL]$|^--(?:arg-file|jobs|delay|timeout|retries|halt)$/,
};
/** What comes in may be more than a word: in place of the command, in an expression, or for a shell. */
const PARALLEL_RUNS_INPUT = /^\s*\{|\{=|[;&|(`]\s*\{|(?:^|[\s/;&|(])(?:eval|[a-z]*sh)(?:\s|$)/;

/** A shell reads its words, with what comes in at their end or where `{}` stands. */
function ranByParallel(words: Words): Ran {
  const rest = words.slice(afterOptions(words, PARALLEL));
  const end = rest.findIndex(({ text }) => /^::::?\+?$/.test(text));
  const inner = end < 0 ? rest : rest.slice(0, end);
  const [command] = inner;
  if (command === undefined || command.open || command.text.startsWith("-")) return UNSEEN;
  const { lines, hidden } = ranByText(inner);
  const given = lines.map((line) => `${line} {}`);
  const runsInput = lines.some((line) => PARALLEL_RUNS_INPUT.test(line));
  return { floor: "run", commands: [], lines: given, hidden: hidden || runsInput };
}
