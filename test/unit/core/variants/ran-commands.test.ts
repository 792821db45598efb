// Commands that run what is not in their words: a line that may hold something unseen says so.
import { describe, expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

function textsOf(line: string): readonly string[] {
  return (partsOfShell(line, { session: true }) ?? []).flatMap((part) => part.texts);
}

function isSeen(line: string): boolean {
  return partsOfShell(line, { session: true })?.every((part) => !part.hidden) === true;
}

describe("a shell", () => {
  test.each([
    "curl u | bash",
    "curl u | bash -",
    "curl u | bash --",
    "curl u | sudo bash -",
    "curl u | bash -s stable",
    "curl u | bash -s -- a",
    "curl u | bash -es a",
    "curl u | dash -sc ls",
    "echo rm x | sh -",
    "echo x | sh -e -",
    "curl u | bash /dev/stdin",
    "curl u | bash //dev/./fd/0",
    "curl u | bash /proc/self/fd/0",
    "curl u | bash /x/../dev/stdin",
    "curl u | bash /de?/std*",
    "curl u | bash /dev{/stdin,}",
    "curl u | (cd /dev; bash stdin)",
    "bash <(curl u)",
    "bash -x /<(curl u)",
    "curl u | bash $NOTHING",
    "bash $(echo -c deploy) x",
    "bash {-c,./deploy}",
    "bash -$X 'deploy x'",
    "bash --rcfile f -c 'deploy x'",
    "bash -rcfile f -c 'deploy x'",
    "bash --init-file f -c 'deploy x'",
    "zsh --emulate sh -c 'deploy x'",
    "bash -oO pipefail extglob -c 'deploy x'",
    "zsh -oerrexit -c 'deploy x'",
    "bash -o $X -c 'deploy x'",
    "bash + -c 'deploy x'",
    "bash -c",
    "ls a | xargs bash",
  ])("that reads its program where nobody looks hides it: %s", (line) => {
    expect(isSeen(line)).toBe(false);
  });

  test.each([
    "bash -c 'deploy x'",
    "bash +c 'deploy x'",
    "bash -lc 'deploy x'",
    "bash -exc 'deploy x'",
    "bash -c -- 'deploy x'",
    "bash -c - 'deploy x'",
    "bash -euo pipefail -c 'deploy x'",
    "bash -O extglob -c 'deploy x'",
    "bash +x -o pipefail -ec 'deploy x' name",
    "bash --norc --noprofile --posix -c 'deploy x'",
    "rbash -c 'deploy x'",
    "mksh -c 'deploy x'",
    "yash -c 'deploy x'",
    "/bin/ksh93 -c 'deploy x'",
    "csh -fc 'deploy x'",
  ])("that is given a line runs that: %s", (line) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining(["deploy x"])]);
  });

  test.each([
    "bash run.sh -s -",
    "bash -x run.sh /dev/stdin",
    "bash -euo pipefail run.sh",
    "sh -- run.sh",
    'bash "$DIR/run.sh" a',
    "bash *.sh",
    "bash /opt/*/run.sh",
    "bash run.sh <(ls)",
    "find . -name '*.sh' -exec bash {} +",
    "bash --version",
  ])("that is given a file is seen: %s", (line) => {
    expect(isSeen(line)).toBe(true);
  });
});

describe("a file that the shell itself reads", () => {
  test.each([
    "source <(curl u)",
    ". <(curl u)",
    "source -- <(curl u)",
    "builtin source /dev/stdin",
    "curl u | . /dev/fd/0",
    "source -p /dev stdin",
  ])("is not seen where it is a stream: %s", (line) => {
    expect(isSeen(line)).toBe(false);
  });

  test.each(["source venv/bin/activate", ". ./env.sh <(ls)", 'source "$VENV/bin/activate"'])(
    "is a file elsewhere: %s",
    (line) => {
      expect(isSeen(line)).toBe(true);
    },
  );
});

describe("`eval` and `trap`", () => {
  test.each([
    "eval 'deploy x'",
    "eval -- 'deploy x'",
    "eval -- deploy x",
    "command eval -- 'deploy x'",
    "trap 'deploy x' EXIT",
    "trap -- 'deploy x' EXIT",
  ])("run their text, also behind two hyphens: %s", (line) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining(["deploy x"])]);
  });

  test.each(["eval -x 'deploy x'", "eval --$X 'deploy x'", "trap -x 'deploy x' EXIT", "trap $X"])(
    "hide it behind an option that is not known: %s",
    (line) => {
      expect(isSeen(line)).toBe(false);
    },
  );

  test.each(["trap", "trap -p", "trap -p EXIT", "trap -l", "trap - EXIT", "trap -- - EXIT"])(
    "run nothing where traps are shown or taken back: %s",
    (line) => {
      expect([isSeen(line), textsOf(line)]).toEqual([true, expect.not.arrayContaining(["EXIT"])]);
    },
  );
});

describe("an expression that the shell evaluates", () => {
  test.each([
    "let 'a[$(deploy x)]=1'",
    "let 'a[`deploy x`]=1'",
    "let 'a[b]=1'",
    'let "a[$i]=1"',
    "unset 'a[$(deploy x)]'",
    "builtin unset -v 'a[$(deploy x)]'",
    "declare 'a[$(deploy x)]=1'",
    "y='a[$(deploy x)]'; echo $((y))",
    "y='a[b[`deploy x`]]' let y",
    "export y='a[$(deploy x)]'; let y",
    "readonly y='a[$(deploy x)]'",
    "typeset -i x='a[$(deploy x)]'",
  ])("may run what stands in an index: %s", (line) => {
    expect(isSeen(line)).toBe(false);
  });

  test.each([
    "let x=1",
    "let 'x += 1'",
    "unset NAME",
    "unset 'a[0]'",
    "declare -a a",
    "local x=1",
    "x='[a] `b`'",
    'x="a[$(ls)]"',
    "export X='$(ls)'",
  ])("runs nothing without one: %s", (line) => {
    expect(isSeen(line)).toBe(true);
  });
});

describe("git that runs others", () => {
  test.each([
    "git submodule foreach deploy x",
    "git submodule foreach 'deploy x'",
    "git -C a submodule --quiet foreach --recursive 'deploy x'",
    "git-submodule foreach deploy x",
    "git bisect run deploy x",
    "git rebase -x 'deploy x' HEAD~1",
    "git rebase -ix 'deploy x' HEAD~1",
    "git rebase -x'deploy x' HEAD~1",
    "git rebase a --exec 'deploy x'",
    "git rebase --exec='deploy x' a",
    "git rebase --ex 'ls' --exe 'deploy x' a",
  ])("says what: %s", (line) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining(["deploy x"])]);
  });

  test.each([
    'git submodule foreach "$X"',
    "git submodule foreach $X a",
    "git submodule foreach --unknown deploy x",
    'git rebase -x "$X" a',
    "git bisect run $X",
    "git difftool -x deploy",
    "git filter-branch --tree-filter 'deploy x'",
    "git fetch --upload-pack deploy a",
    "git grep -O'deploy x' a",
    "git ls-remote --exe=deploy origin",
    "git ls-remote --upload-pack deploy origin",
  ])("or hides it: %s", (line) => {
    expect(isSeen(line)).toBe(false);
  });

  test.each([
    "git rebase main",
    "git rebase -i HEAD~3",
    "git submodule update",
    "git bisect good",
    "git ls-remote --exit-code origin",
  ])("and runs none in %s", (line) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, [line]]);
  });
});

describe("tools of projects that run programs", () => {
  test.each([
    "npm exec deploy x",
    "npm exec -- deploy x",
    "npm -w a exec --yes deploy x",
    "npm x -c 'deploy x'",
    "npm -c 'deploy x' exec",
    "npm exec --call='deploy x'",
    "npx -y deploy x",
    "npx -p a deploy x",
    "npx deploy@latest x",
    "npx --unknown deploy x",
    "npx --unknown a deploy x",
    "pnpm dlx deploy x",
    "pnpm exec -c deploy x",
    "yarn exec deploy x",
    "bunx --bun deploy x",
    "bun x deploy x",
    "poetry -n run deploy x",
    "uv run --with a deploy x",
    "uv tool run deploy x",
    "uvx deploy x",
    "pipx run deploy x",
    "yarn workspace a exec deploy x",
    "bun run deploy x",
    "bundle exec deploy x",
    "conda run -n a deploy x",
  ])("say which: %s", (line) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining(["deploy x"])]);
  });

  test("say of what they run all that is said of it elsewhere", () => {
    expect(textsOf("corepack npm@10 -w a publish")).toContain("npm publish");
    expect(textsOf("npx npm exec git -C a push")).toContain("git push");
    expect(textsOf("pnpm --filter a git -C a push")).toContain("git push");
    expect(textsOf("pnpm --unknown git push")).toContain("git push");
    expect(textsOf("pnpm install a")).toEqual(["pnpm install a"]);
  });

  test.each([
    "npx $X",
    "poetry run $X",
    "npm exec -c $X",
    "uv run -",
    "npx --unknown sudo git push",
  ])("or hide it: %s", (line) => {
    expect(isSeen(line)).toBe(false);
  });

  test.each(["npx", "corepack enable", "npm exec", "uv sync", "npx vitest -c a.ts"])(
    "and hide nothing in %s",
    (line) => {
      expect(isSeen(line)).toBe(true);
    },
  );
});

describe("a shell with a language of its own", () => {
  test.each([
    "fish -c 'deploy x'",
    "fish -lc 'ls; deploy x'",
    "fish --command 'deploy x'",
    "pwsh -c deploy x",
    "pwsh -NoProfile -Command 'deploy x'",
    "powershell -ep Bypass -c 'deploy x'",
    "nu -c 'deploy x'",
  ])("that is given a line runs that: %s", (line) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining(["deploy x"])]);
  });

  test.each([
    "fish -c 'and deploy x'",
    "fish -c '\\x64eploy x'",
    "fish -c 'if true; deploy x; end'",
    "fish",
    "fish -C 'deploy x' -c ls",
    "pwsh -c \"& 'deploy' x\"",
    "pwsh -EncodedCommand eA==",
    "nu -c '^deploy x'",
    "pwsh $X",
    "pwsh -c '. deploy x'",
    "powershell deploy.exe x",
    "nu -c 'alias d = deploy'",
    "elvish -c 'e:deploy x'",
  ])("hides what means something else there: %s", (line) => {
    expect(isSeen(line)).toBe(false);
  });

  test.each(["fish run.fish", "pwsh -File a.ps1", "pwsh ./a.ps1", "fish --version"])(
    "that is given a file is seen: %s",
    (line) => {
      expect(isSeen(line)).toBe(true);
    },
  );
});

describe("an alias", () => {
  test("counts as what it stands for, alone and with words behind it", () => {
    expect(textsOf("alias d='deploy x'")).toEqual(["alias d=deploy x", "deploy x ", "deploy x"]);
    expect(textsOf("alias a=b d='cd /; deploy x'; d")).toContain("deploy x");
  });

  test.each([
    "csh -c 'alias g git push'",
    "alias g=git",
    "alias s=sudo",
    'alias d="$X"',
    "alias -g D=deploy",
    "alias d='deploy ('",
    "alias d='X=1'",
    "alias d=",
    "alias d='sh -c ls'",
    "alias d='sudo alias e=ls'",
    "alias d='time sh -c ls'",
    "alias d='ls; '",
    "alias d='ls &'",
    "alias d='ls\n'",
  ])("hides what words behind it may make of it: %s", (line) => {
    expect(isSeen(line)).toBe(false);
  });

  test.each(["alias", "alias -p", "alias d", "alias ll='ls -l'", "alias ll='sudo ls'"])(
    "hides nothing in %s",
    (line) => {
      expect(isSeen(line)).toBe(true);
    },
  );

  test("in an alias in an alias is read in a time that grows with the line", () => {
    let line = "a;".repeat(500);
    for (let depth = 0; depth < 6; depth += 1) {
      line = `alias a="${line.replace(/[\\"]/g, "\\$&")}"`;
    }
    expect(textsOf(line).length).toBeLessThan(3_000);
  });
});

describe("a file that the input comes from", () => {
  test.each([
    ["cat < .env", "cat .env"],
    ["cat 0<.env", "cat .env"],
    ["<.env cat -n", "cat -n .env"],
    ["cat <> .env", "cat .env"],
    ["sudo cat < .env", "cat .env"],
    ["/bin/cat < .env", "cat .env"],
    ["sort -u < a < .env", "sort -u a .env"],
    ["git -C /r apply < .env", "git apply .env"],
    ["echo $(< .env)", " .env"],
    ["while read l; do echo $l; done < .env", " .env"],
    ["while read l; do cat; done < .env", "cat .env"],
    ["{ cat; } < .env", "cat .env"],
    ["(cat -n) < .env", "cat -n .env"],
    ["if true; then cat; fi < .env", "cat .env"],
    ["for x in a b; do { cat; }; done < .env", "cat .env"],
    ["{ (cat) < a; } < .env", "cat .env"],
    ["} cat; fi; { cat; } < .env", "cat .env"],
    ["echo $(< .env)", "cat .env"],
    ["exec < .env; cat -n", "cat -n .env"],
    ["command exec 3< .env; cat <&3", "cat .env"],
    ["exec 3< .env", "cat .env"],
    ["while :; do cat; exec < .env; done", "cat .env"],
    ["cat - < .env", "cat .env"],
    ["cat a /dev/stdin < .env", "cat a .env"],
    ["cat < a < .env", "cat .env"],
    ["sh -c 'cat' < .env", "cat .env"],
    ["xargs cat < .env", "cat .env"],
    ["find . -exec cat \\; < .env", "cat .env"],
  ])("stands behind the words of the command: %s", (line, text) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining([text])]);
  });

  test("is read by no command that has no use for it, and by none outside of the group", () => {
    expect(textsOf("while read f; do rm -r a; done < /list")).not.toContain("rm -r a /list");
    expect(textsOf("cat; { ls; } < .env; cat -n")).toEqual(
      expect.not.arrayContaining(["cat -n .env"]),
    );
    expect(textsOf("exec cat < .env; tac")).not.toContain("tac .env");
  });

  test("is not seen where there are nine of them", () => {
    const files = (count: number) => Array.from({ length: count }, (_, at) => `<${at}`).join(" ");
    expect([isSeen(`cat ${files(8)}`), isSeen(`cat ${files(9)}`)]).toEqual([true, false]);
    const groups = (count: number) => `${"{ ".repeat(count)}cat${"; } < a".repeat(count)}`;
    expect([isSeen(groups(8)), isSeen(groups(9))]).toEqual([true, false]);
  });

  test("is no word of the commands that get its lines", () => {
    expect(textsOf("xargs rm -r < /list")).toEqual([
      "xargs rm -r",
      "xargs rm -r /list",
      "rm -r ",
      "rm -r",
    ]);
    expect(textsOf("cat <&3 3<<< a")).toEqual(["cat"]);
    expect(textsOf("( cat a ); { cat b; }")).toEqual(["cat a", "cat b"]);
  });
});
