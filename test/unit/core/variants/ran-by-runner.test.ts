// Programs that run what stands behind them: rules see it.
import { describe, expect, test } from "vitest";
import { readShell as read } from "../../../support/core/read-shell.ts";

describe("the command is seen", () => {
  test.each([
    "cross-env deploy x",
    "cross-env A=1 B=2 deploy x",
    "npx cross-env A=1 deploy x",
    "npx dotenv-cli -e .env -- deploy x",
    "dotenv -e .env deploy x",
    "dotenv -f .env run deploy x",
    "dotenvx run -- deploy x",
    "env-cmd -f .env deploy x",
    "env-cmd -f .env --use-shell 'cd a && deploy x'",
    "concurrently 'deploy x' npm:lint",
    "concurrently -k -n a,b --new 'ls a' 'deploy x'",
    "hyperfine -w 3 --prepare 'deploy x' ls",
    "gtimeout 5 deploy x",
    "wsl.exe -d a -e deploy x",
    "sg g 'deploy x'",
    "mamba run -n a deploy x",
    "micromamba run -p a deploy x",
    "pixi run deploy x",
    "hatch env run -e a -- deploy x",
    "ls | entr -r deploy x",
    "ls | entr -s 'cd a && deploy x'",
    "watchexec -w src -e ts -- deploy x",
    "watchexec -r deploy x",
    "npx -c ls -c 'deploy x'",
    "doppler run --command ls --command='deploy x'",
    "nix-shell --run a --run b --run c --run 'deploy x'",
    "cargo watch -w src -s 'deploy x'",
    "cargo watch -x test -s ls -cs 'deploy x'",
    "cargo watch -s'deploy x'",
    "cargo +nightly watch --shell='deploy x'",
    "cargo watch -w src -- deploy x",
    "cargo watch -- 'deploy x'",
    "cargo-watch --shell 'deploy x'",
    "xvfb-run -a -s b deploy x",
    "fakeroot -u deploy x",
    "pkexec --user root deploy x",
    "prlimit --nofile=9 deploy x",
    "systemd-inhibit --what=sleep deploy x",
    "kubectl create job a --image=b -- deploy x",
    "bun exec 'cd a && deploy x'",
    "lerna exec -- deploy x",
    "yarn deploy x",
    "yarn run deploy x",
    "yarn workspace a deploy x",
    "bun deploy x",
    "lerna exec --scope a --parallel deploy x",
    "npx nx exec -- deploy x",
    "hatch run deploy x",
    "volta run --node 20 deploy x",
    "heroku run -a b deploy x",
    "doppler run -- deploy x",
    "doppler run --command 'cd a && deploy x'",
    "doppler run --command='deploy x'",
    "op run --env-file=a -- deploy x",
    "aws-vault exec p -- deploy x",
    "aws-vault exec p deploy x",
    "lxc exec c -- deploy x",
    "direnv exec . deploy x",
    "asdf exec deploy x",
    "nvm exec 18 deploy x",
    "nvm exec deploy x",
    "fnm exec --using 18 deploy x",
    "mise exec node@20 -- deploy x",
    "mise x -c 'deploy x'",
    "nix develop .#a -c deploy x",
    "nix shell a --command deploy x",
    "nix-shell -p a --run 'cd a && deploy x'",
    "vagrant ssh a -c 'deploy x'",
    "nodemon -w a -x 'deploy x'",
    "nodemon -x 'deploy x' -e ts",
    "nodemon --exec deploy x",
    "nodemon --exec=deploy x",
    "sg g -c 'deploy x'",
    "sshpass -p x ssh h 'deploy x'",
    "gosu u deploy x",
    "su-exec u deploy x",
    "setpriv --reuid 1 --regid=1 --clear-groups deploy x",
    "nsenter -t 1 -m deploy x",
    "caffeinate -i deploy x",
    "unbuffer -p deploy x",
    "tini -- deploy x",
    "proxychains4 -q -f a deploy x",
    "faketime -f @0 deploy x",
    "valgrind --leak-check=full -q deploy x",
    "perf stat -e a deploy x",
    "gdb -q --args deploy x",
    "retry 3 -- deploy x",
    "wsl -d a deploy x",
    "cmd.exe /c 'deploy x'",
    "npm explore a -- deploy x",
    "unknown --option a -- deploy x",
    "unknown -- sh -c 'cd a && deploy x'",
  ])("%s", (line) => {
    const { texts, isSeen } = read(line);
    expect([isSeen, texts]).toEqual([true, expect.arrayContaining(["deploy x"])]);
  });
});

test.each([
  'concurrently "$X"',
  "concurrently -$X ls",
  'concurrently "ls ("',
  "direnv exec . $X",
  "doppler run -- $X",
  "cross-env A=1 $X",
  'nix-shell --run "$X"',
  "unknown -- a | sh",
  "npx --a$X -c 'deploy x'",
  'cargo watch -x "$X"',
  "nix-shell --run a --run b --run c --run d --run e",
])("%s hides what runs", (line) => {
  expect(read(line).isSeen).toBe(false);
});

test.each([
  ["cross-env A=1", ["cross-env A=1"]],
  ["lerna exec", ["lerna exec"]],
  ["lerna run exec -- deploy x", ["lerna run exec -- deploy x", "deploy x"]],
  ["nix develop .#a", ["nix develop .#a"]],
  ["nix build -c a", ["nix build -c a"]],
  ["nix-shell -p a", ["nix-shell -p a"]],
  ["doppler run --", ["doppler run --"]],
  ["doppler login", ["doppler login"]],
  ["dotenv -e .env --", ["dotenv -e .env --"]],
  ["direnv exec .", ["direnv exec ."]],
  ["gosu u", ["gosu u"]],
  ["concurrently npm:lint", ["concurrently npm:lint", "npm run lint"]],
  ["unknown --", ["unknown --"]],
  ['unknown -- "$X"', ["unknown -- ", ""]],
  ["unknown -- deploy", ["unknown -- deploy", "deploy"]],
  ["grep -- deploy", ["grep -- deploy"]],
  ["cargo test -- deploy", ["cargo test -- deploy"]],
  ["cargo watch", ["cargo watch"]],
  ["cargo watch -w -q", ["cargo watch -w -q"]],
  ["cargo watch -s", ["cargo watch -s"]],
  ["cargo watch -qx 'publish -p a'", ["cargo watch -qx publish -p a", "cargo publish -p a"]],
  ["cargo watch -xtest --exec=b", ["cargo watch -xtest --exec=b", "cargo test", "cargo b"]],
  ["sg g 'deploy x'", ["sg g deploy x", "deploy x"]],
  ["nodemon -x 'cat <<E\na\nE'", ["nodemon -x cat <<E\na\nE", "cat"]],
])("nothing else is seen of %s", (line, texts) => {
  expect(read(line)).toMatchObject({ texts, isSeen: true });
});

test("what may stand behind two hyphens makes no other class", () => {
  const lines = ["unknown -- rm a", "unknown -- sh", "unknown -- ls"];
  expect(lines.map((line) => [read(line).isSeen, read(line).classes])).toEqual(
    lines.map(() => [true, ["run"]]),
  );
});

test("sixteen texts of cargo watch are seen, and of one more none", () => {
  const isSeen = (count: number) => read(`cargo watch${" -x a".repeat(count)}`).isSeen;
  expect([16, 17].map(isSeen)).toEqual([true, false]);
});

test("what may be an argument of another subcommand of cargo writes", () => {
  const classes = (line: string) => read(line).classes;
  expect(classes("cargo watch -s ls")).toEqual(["run"]);
  expect(classes("cargo --a b watch -s ls")).toEqual(["write"]);
});

test("nor is it looked into beyond eight commands in each other", () => {
  const nested = (depth: number) => read(`${"unknown -- ".repeat(depth)}deploy x`).texts;
  expect([8, 9].map((depth) => nested(depth).includes("deploy x"))).toEqual([true, false]);
});

describe("wrappers with options", () => {
  test.each([
    ["env -u X ls", "run"],
    ["env -uX -C a ls", "run"],
    ["env -i PATH=$PATH ls", "run"],
    ["env -iu X ls", "run"],
    ["env - ls", "run"],
    ["env --unset=X --chdir a --ignore-environment ls", "run"],
    ["env -- A=1 ls", "run"],
    ["env -u X rm a", "write"],
    ["env ls", "read"],
    ["env -0", "read"],
    ['timeout "$T" ls', "read"],
    ["timeout $T ls", "read"],
    ["timeout -k 5 $T ls", "read"],
    ["timeout 5 5 ls", "run"],
  ])("%s is a %s", (line, expected) => {
    const { classes, isSeen } = read(line);
    expect([isSeen, classes]).toEqual([true, [expected]]);
  });

  test.each([
    "env -S 'deploy x'",
    "env -iS 'deploy x'",
    "env --split-string='deploy x'",
    "env -u$X ls",
    "timeout $T 5 deploy",
    "timeout -$T ls",
    "timeout *5 ls",
    "timeout x$T ls",
  ])("%s may run what nobody sees", (line) => {
    expect(read(line).isSeen).toBe(false);
  });

  test("and without a command run none", () => {
    expect(["env -u", "timeout 5"].map((line) => read(line).isSeen)).toEqual([true, true]);
  });
});

test.each([
  ["{fd}>f deploy x", ["deploy x"]],
  ["{fd_1}<f deploy x", ["deploy x", "deploy x f"]],
  ["exec {fd}>&-", ["exec"]],
  ["echo {fd}a>f", ["echo {fd}a"]],
  ["echo a{fd}>f", ["echo a{fd}"]],
  ["echo {1}>f", ["echo {1}"]],
])("a descriptor in a variable is no word: %s", (line, texts) => {
  expect(read(line).texts).toEqual(texts);
});

test("git may be told which protocols to take, unless one of them runs a program", () => {
  const isSeen = (name: string) => read(`git -c ${name}=always submodule update`).isSeen;
  const plain = ["file", "http", "https", "ssh", "git"].map((one) => `protocol.${one}.allow`);
  expect(plain.map(isSeen)).toEqual(plain.map(() => true));
  const others = [
    "protocol.allow",
    "protocol.ext.allow",
    "protocol.files.allow",
    "protocol.$X.allow",
  ];
  expect(others.map(isSeen)).toEqual(others.map(() => false));
});

test.each([
  ["npx firebase-tools@13 deploy", "firebase deploy"],
  ["npx netlify-cli deploy", "netlify deploy"],
  ["npx aws-cdk --profile a deploy", "cdk deploy"],
  ["yarn dlx @changesets/cli publish", "changeset publish"],
  ["sls deploy", "serverless deploy"],
])("a package is the program that it brings: %s", (line, text) => {
  expect(read(line).texts).toContain(text);
});

test.each(["yarn test --watch", "yarn add x", "yarn build", "bun test", "bun install"])(
  "what is no program of the project runs none: %s",
  (line) => {
    expect(read(line).texts).toEqual([line]);
  },
);

test.each([
  ["cdk --profile x deploy", "cdk deploy"],
  ["firebase -P prod deploy", "firebase deploy"],
  ["fly -a app deploy", "fly deploy"],
  ["flyctl --config a deploy", "flyctl deploy"],
  ["wrangler --env prod deploy", "wrangler deploy"],
  ["netlify --auth x deploy", "netlify deploy"],
  ["serverless -s prod deploy", "serverless deploy"],
  ["hatch -v publish", "hatch publish"],
  ["pdm -p a publish", "pdm publish"],
])("options before a subcommand are none of its words: %s", (line, text) => {
  expect(read(line).texts).toContain(text);
});
