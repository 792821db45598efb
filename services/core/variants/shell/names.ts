/** Programs under another name: `git-push` is `git push`. */
import type { Words } from "./ran.ts";
import type { ShellWord } from "./shell-line.ts";

/** The words as they are under the name that rules know; null: it has no other. */
export function underUsualName(words: Words): Words | null {
  const [first, ...rest] = words;
  const usual = first === undefined || first.open ? null : usualOf(first.text);
  return usual === null ? null : [...usual.split(" ").map(plainWord), ...rest];
}

function usualOf(name: string): string | null {
  if (name === "docker-compose") return "docker compose";
  if (name === "gmake") return "make";
  return /^git-[a-z]/.test(name) ? name.replace("-", " ") : null;
}

export function plainWord(text: string): ShellWord {
  return { text, open: false, startsOpen: false, splits: false, streams: false };
}
