// What is given to a terminal that goes on by itself runs there: rules see it.
import { describe, expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

function read(line: string) {
  const parts = partsOfShell(line, { session: false }) ?? [];
  return {
    // The first is the whole.
    texts: parts.flatMap(({ texts }) => texts.slice(1)),
    isSeen: parts.length > 0 && parts.every(({ hidden }) => !hidden),
  };
}

describe("the commands in it are seen", () => {
  test.each([
    ["tmux new-session -d -s x 'cd a && deploy'", ["cd a", "deploy"]],
    ["tmux new -d -s x deploy now", ["deploy now"]],
    ["tmux -L s new -Ad deploy now", ["deploy now"]],
    ["tmux -2uLs neww -n x -c /a 'deploy now'", ["deploy now"]],
    ["tmux splitw -h -l20 'deploy now'", ["deploy now"]],
    ["tmux respawn-pane -k -t x:0 'deploy now'", ["deploy now"]],
    ["tmux new -d -s x \\; send -t x deploy Enter \\; attach", ["deploy"]],
    ["tmux new -d -s 'x;' send deploy Enter", ["deploy"]],
    ["tmux send-keys -t x 'deploy now' Enter", ["deploy now"]],
    ["tmux send-keys -tx 'deploy now' C-m", ["deploy now"]],
    ["tmux send -t x a Enter deploy Space now KPEnter", ["a", "deploy now"]],
    ["tmux send -lt x 'deploy now'", ["deploy now"]],
    ["tmux send -t x C-c 'deploy now' Enter", ["deploy now"]],
    ["tmux send -t x deploy Up ' now' C-j", ["deploy now"]],
    ["screen -dmS x deploy now", ["deploy now"]],
    ["screen -d -m -t a deploy now", ["deploy now"]],
    ["screen -S x -X stuff 'deploy now\\n'", ["deploy now"]],
    ["screen -Sx -X stuff 'a^Mdeploy\\015'", ["a", "deploy"]],
    ["screen -X stuff deploy now", ["deploy now"]],
    ["screen -r dev -X stuff $'deploy now\\n'", ["deploy now"]],
    ["screen -x dev -X stuff 'deploy now\\n'", ["deploy now"]],
    ["screen -d -r dev -p 0 -X stuff 'deploy now\\n'", ["deploy now"]],
    ["screen -dmS x deploy -X now", ["deploy -X now"]],
    ["screen -Sam -r deploy now", ["deploy now"]],
    ["systemd-run --user --scope deploy now", ["deploy now"]],
    ["systemd-run -q --unit=x -p Nice=1 deploy now", ["deploy now"]],
    ["git config --global alias.d 'deploy now'", ["git deploy now"]],
    ["git config alias.d '!deploy now'", ["deploy now"]],
    ["git config set ALIAS.d '!deploy now'", ["deploy now"]],
  ])("%s", (line, texts) => {
    expect(read(line)).toEqual({ texts, isSeen: true });
  });
});

test.each([
  "tmux",
  "tmux ls",
  "tmux new -d -s x",
  "tmux capture-pane -p -t x",
  "tmux kill-session -t x",
  "tmux list-panes -a",
  "tmux set -g mouse on",
  "tmux send-keys -t x C-c",
  "tmux send-keys -t x C-M-x Escape F5 ^D Enter",
  "tmux send-keys -t x",
  "screen -ls",
  "screen -dmS x",
  "screen -S x -X quit",
  "git config --get alias.d",
])("%s runs nothing that is not seen", (line) => {
  expect(read(line)).toEqual({ texts: [], isSeen: true });
});

test.each([
  "tmux -c deploy",
  "tmux -f file new",
  "tmux $X",
  "tmux new $X",
  'tmux "$X" a',
  "tmux new -d -F '#(deploy)'",
  "tmux display -p '#(deploy)'",
  "tmux new -d -Z -- -x",
  'tmux new -d "$X" a',
  'tmux new -d "$X"',
  'tmux new -d a"$X"',
  'tmux new -d a"$X" b',
  "tmux run-shell deploy",
  "tmux run deploy",
  "tmux source-file f",
  "tmux set -g default-command deploy",
  "tmux set-hook -g a deploy",
  "tmux send-keys -t x -H 64",
  'tmux send-keys -t x "$X" Enter',
  "tmux send-keys -t x 'deploy (' Enter",
  "screen -c f",
  "screen $X",
  'screen "$X"',
  "screen -X",
  'screen -X "$X"',
  "screen -X exec deploy",
  "screen -r dev -X exec deploy",
  "screen -Sam -r dev -X",
  'screen -X stuff "$X"',
  "systemd-run -S",
  "systemd-run -p ExecStartPre=deploy ls",
  "systemd-run --property=ExecStartPre=deploy ls",
  "systemd-run --on-active=1 deploy",
  'git config alias.d "$X"',
  "git config alias.d $X",
])("%s may run what nobody sees", (line) => {
  expect(read(line).isSeen).toBe(false);
});
