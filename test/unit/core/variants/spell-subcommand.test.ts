// Options before a subcommand: rules know the command without them, whatever they are.
import { describe, expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

const parts = (line: string) => partsOfShell(line, { session: true }) ?? [];
const textsOf = (line: string) => parts(line).flatMap((part) => part.texts);
const isSeen = (line: string) => parts(line).every((part) => !part.hidden);

describe("a command is known without the options before its subcommand", () => {
  test.each([
    ["git -C . push", "git push"],
    ["git --no-pager push", "git push"],
    ["git -c a=b push", "git push"],
    ['git -c user.name="$NAME" push', "git push"],
    ["git -C $DIR push", "git push"],
    ["sudo git -C . push", "git push"],
    ["/usr/bin/git -P push", "git push"],
    ["xargs git -C . push", "git push "],
    ["npm -w a publish", "npm publish"],
    ["npm --workspace=a publish", "npm publish"],
    ["npm --registry $URL publish", "npm publish"],
    ["npm -- publish", "npm publish"],
    ["pnpm -w publish", "pnpm publish"],
    ["npm --unknown a publish", "npm publish"],
    ["npm --unknown publish", "npm publish"],
    ["docker --context x push a", "docker push a"],
    ["docker -D --host=$HOST push a", "docker push a"],
    ["podman --unknown=x push a", "podman push a"],
    ["cargo +nightly publish", "cargo publish"],
    ["go -C a build", "go build"],
    ["kubectl -n $NS delete pod a", "kubectl delete pod a"],
    ["make -C a -j 8 deploy", "make deploy"],
    ["make -j$(nproc) deploy", "make deploy"],
    ["systemctl --user stop a", "systemctl stop a"],
  ])("%s: %s", (line, text) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining([text])]);
  });

  test("and the value of a known option is no subcommand, nor what follows one", () => {
    expect(textsOf("npm -s run publish")).toEqual(["npm -s run publish", "npm run publish"]);
    expect(textsOf("npm -w publish test")).toEqual(["npm -w publish test", "npm test"]);
    expect(textsOf("docker run a push")).toEqual(["docker run a push"]);
    expect(textsOf("rpm -q a")).toEqual(["rpm -q a"]);
  });
});

describe("a subcommand that is not seen is hidden", () => {
  test.each([
    "git $(echo push)",
    "X=push; git $X origin",
    "git {push,origin,main}",
    "git $" + "{X:-push}",
    "git pus?",
    "git -c alias.p=push p",
    'git -c "$X" p',
    "git -c a$X.p=push p",
    "git --unknown push",
    "ls | xargs git",
    "npm $(echo publish)",
    "npm pub$X",
    "npm --unknown $X a",
    "npm -w $(cat a) publish",
    "npm --unknown$(cat a) publish",
    "npm --un{known,publish} a",
    "docker $X a",
    "make $TARGET",
    "rpm $X a",
    `docker${" -x a".repeat(17)} push a`,
  ])("%s", (line) => {
    expect(isSeen(line)).toBe(false);
  });

  test.each([
    "git log $(cat a)",
    "git",
    "git --version",
    "npm",
    "npm test -- $X",
    "npm --prefix $DIR test",
    "make -C $DIR",
    "make -j$(nproc)",
    "rpm -q $X",
    "go test $(go list ./...)",
    "tools/run $X",
    `docker${" -x a".repeat(16)} push a`,
  ])("and nothing is in %s", (line) => {
    expect(isSeen(line)).toBe(true);
  });
});
