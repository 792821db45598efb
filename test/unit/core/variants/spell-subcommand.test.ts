// Options before a subcommand: rules know the command without them, whatever they are.
import { describe, expect, test } from "vitest";
import { partsOfShell } from "../../../../services/core/variants/shell/classify-shell.ts";

const parts = (line: string) => partsOfShell(line, { session: true }) ?? [];
const textsOf = (line: string) => parts(line).flatMap((part) => part.texts);
const isHidden = (line: string) => parts(line).some((part) => part.hidden);
const unseenOf = (line: string) => [...new Set(parts(line).flatMap((part) => part.unseenOf))];
const isSeen = (line: string) => !isHidden(line) && unseenOf(line).length === 0;

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
    ["poetry -n publish", "poetry publish"],
    ["uv --quiet publish", "uv publish"],
    ["uv --directory a publish", "uv publish"],
    ["bun --cwd a publish", "bun publish"],
    ["twine --no-color upload x", "twine upload x"],
    ["apt-get -y remove x", "apt-get remove x"],
    ["sudo apt-get -o A=b remove x", "apt-get remove x"],
    ["gh -R a/b pr merge 1", "gh pr merge 1"],
    ["gh pr -R a/b merge 1", "gh pr merge 1"],
    ["aws --profile a s3 --region b rm c", "aws s3 rm c"],
    [
      "gcloud -q compute --project a instances --zone b delete c",
      "gcloud compute instances delete c",
    ],
    ["terraform -chdir=a destroy", "terraform destroy"],
    ["docker compose -f a down", "docker compose down"],
    ["docker --context a compose -p b --verbose down", "docker compose down"],
    ["docker-compose -f a down", "docker compose down"],
    ["docker compose -f a down", "docker-compose down"],
    ["git subtree -P a push b", "git subtree push b"],
    ["npm run --silent publish", "npm run publish"],
    ["pnpm --filter ./a/* publish", "pnpm publish"],
    ["pnpm --filter ...[origin/main] publish", "pnpm publish"],
    ["make -sj$(nproc) deploy", "make deploy"],
    ['make -C "$(pwd)" deploy', "make deploy"],
    ["cargo +$TOOLCHAIN publish", "cargo publish"],
    ["git -C ./a/* push", "git push"],
  ])("%s: %s", (line, text) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining([text])]);
  });

  test("and the value of a known option is no subcommand, nor what follows one", () => {
    expect(textsOf("npm -s run publish")).toEqual(["npm -s run publish", "npm run publish"]);
    expect(textsOf("npm -w publish test")).toEqual(["npm -w publish test", "npm test"]);
    expect(textsOf("docker start a push")).toEqual(["docker start a push"]);
    expect(textsOf("rpm -q a")).toEqual(["rpm -q a"]);
  });
});

describe("a module of Python is known by its name", () => {
  test.each([
    ["python -m pip install a", "pip install a"],
    ["python3.12 -m pip install a", "pip install a"],
    ["python -I -u -m pip --quiet install a", "pip install a"],
    ["python -W ignore -Xdev -m pip install a", "pip install a"],
    ["python -Im pip install a", "pip install a"],
    ["/usr/bin/python3 -m twine upload a", "twine upload a"],
    ["python -m pip install < a", "pip install a"],
  ])("%s", (line, text) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining([text])]);
  });

  test.each([
    "python a.py -m pip install",
    "python -c a -m pip",
    "python -W a -mpip",
    "python -m",
    "python -m -x",
    "python -u",
    'python "$X" pip install a',
    'python -m "$X" install',
    "mypython -m pip",
  ])("and nothing else is: %s", (line) => {
    expect([isSeen(line), textsOf(line)]).toEqual([
      true,
      [line.replaceAll('"', "").replace("$X", "")],
    ]);
  });

  test("and stays what Python is", () => {
    const lines = ["python -m pip install a", "python -m pip list"];
    const classes = lines.map((line) => partsOfShell(line, { session: false })?.[0]?.class);
    expect(classes).toEqual(["run", "run"]);
  });
});

describe("a command is known by the usual name of what it does", () => {
  test.each([
    ["npm run-script publish", "npm run publish"],
    ["npm -s rum publish", "npm run publish"],
    ["yarn workspace a publish", "yarn publish"],
    ["yarn workspace a run -s publish", "yarn run publish"],
    ["yarn workspaces foreach -A publish", "yarn publish"],
    ["git-push origin", "git push origin"],
    ["/usr/lib/git-core/git-push origin", "git push origin"],
    ["gmake deploy", "make deploy"],
    ["yarn workspace a workspace b publish", "yarn publish"],
  ])("%s: %s", (line, text) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining([text])]);
  });
});

describe("a word behind an option counts as its value and as the subcommand where it may be either", () => {
  test.each([
    "npm --json true publish",
    "npm --no-audit false publish",
    "npm --yes null publish",
    "npm -g true publish",
    "npm --tag -w a publish",
    "npm --unknown -w publish",
    "npm --unknown -w a publish",
  ])("%s", (line) => {
    expect(textsOf(line)).toContain("npm publish");
  });

  test("and as neither more often than that", () => {
    expect(textsOf("npm --json true true publish")).not.toContain("npm publish");
    expect(textsOf("npm --tag a b publish")).not.toContain("npm publish");
  });
});

describe("every goal of `make` counts", () => {
  test.each([
    ["make A=b deploy", "make deploy"],
    ["make A=$X B:=c deploy", "make deploy"],
    ["make all deploy", "make deploy"],
    ["make -B lint -C a deploy A=b", "make deploy A=b"],
    ["make -j 4 deploy", "make deploy"],
    ["make -l deploy", "make deploy"],
    ["make -kl 2 deploy", "make deploy"],
    ["make 'a b' deploy", "make deploy"],
  ])("%s: %s", (line, text) => {
    expect([isSeen(line), textsOf(line)]).toEqual([true, expect.arrayContaining([text])]);
  });

  test("up to seventeen, and what comes then is not seen", () => {
    expect(isSeen(`make${" a".repeat(17)}`)).toBe(true);
    expect(unseenOf(`make${" a".repeat(18)}`)).toEqual(["make"]);
  });
});

describe("a command that may be another one of the same program says so", () => {
  test.each([
    ["make $TARGET", ["make"]],
    ["make -j $N deploy", ["make"]],
    ["make -C $(pwd) deploy", ["make"]],
    ["make -C ./* deploy", ["make"]],
    ["docker $X a", ["docker", "docker-compose"]],
    ["git -C $(pwd) status", ["git"]],
    ["git --git-dir=$(pwd) status", ["git"]],
    ['git -c safe.directory="$X" status', ["git"]],
    ["npm --prefix $(pwd) ci", ["npm"]],
    ["npm -w $(cat a) publish", ["npm"]],
    ["rpm $X a", ["rpm"]],
    ["sudo make $TARGET", ["sudo", "make"]],
    ["/opt/bin/make $TARGET", ["/opt/bin/make", "make"]],
    ["sh -c 'make $TARGET'", ["sh", "make"]],
    ["ls | xargs make", ["xargs", "make"]],
  ])("%s", (line, programs) => {
    expect([isHidden(line), unseenOf(line)]).toEqual([false, programs]);
  });

  test.each([
    ["docker compose $X", ["docker compose", "docker-compose"]],
    ["docker-compose $X", ["docker-compose", "docker compose"]],
    ["docker -D compose -f a $X -v", ["docker compose", "docker-compose"]],
    ["docker compose -f $(ls) up", ["docker compose", "docker-compose"]],
    ["echo down | xargs docker compose", ["xargs", "docker compose", "docker-compose"]],
    ["alias dc='docker compose'", ["alias", "docker compose", "docker-compose"]],
    ["npm run $X", ["npm run"]],
    ["pnpm run $X", ["pnpm run"]],
    ["gh pr $X 5", ["gh pr"]],
    ["helm repo $X a", ["helm repo"]],
    ["aws s3 $X s3://b", ["aws s3"]],
    ["git stash $X", ["git stash"]],
    ["git remote $X origin", ["git remote"]],
    ["kubectl rollout $X d", ["kubectl rollout"]],
    ["gcloud compute instances $X a", ["gcloud compute instances"]],
  ])("and so does one of a group: %s", (line, groups) => {
    expect([isHidden(line), unseenOf(line)]).toEqual([false, groups]);
  });

  test("and is never said to read alone", () => {
    expect(parts("git -C $(pwd) log").map((part) => part.class)).toContain("run");
  });
});

describe("settings of git that name a program are not seen through", () => {
  test.each([
    "git -c core.fsmonitor='git push' status",
    "git -c core.sshCommand=x fetch",
    "git -c core.editor=x commit",
    "git -c Core.Pager=x -p log",
    "git -c core.hooksPath=x commit",
    "git -c credential.helper='!x' fetch",
    "git -c credential.a.helper='!x' fetch",
    "git -c diff.external=x diff",
    "git -c diff.a.textconv=x diff",
    "git -c filter.a.clean=x add b",
    "git -c sequence.editor=x rebase -i a",
    "git -c gpg.ssh.program=x commit",
    "git -c protocol.ext.allow=always fetch",
    'git -c core.editor="$X" commit',
  ])("%s", (line) => {
    expect(isHidden(line)).toBe(true);
  });

  test.each([
    "git -c core.pager=cat log",
    "git -c core.editor=true rebase --continue",
    "git -c core.hooksPath=/dev/null commit",
    "git -c core.fsmonitor=false status",
    "git -c credential.helper= fetch",
    "git -c commit.gpgsign=false commit",
    "git -c gpg.format=ssh commit",
    'git -c http.extraHeader="$X" fetch',
    "git --exec-path",
  ])("others are: %s", (line) => {
    expect(isSeen(line)).toBe(true);
  });
});

describe("options before a subcommand leave its class as it is", () => {
  test.each([
    ["kubectl -n prod get pods", "watch"],
    ["kubectl -n $NS get pods", "watch"],
    ["npm -w a test", "run"],
    ["npm --prefix a run build", "run"],
    ["pnpm -r test", "run"],
    ["make -j$(nproc) test", "run"],
    ["make $T test", "run"],
    ["cargo +nightly test", "run"],
    ["go -C a test", "run"],
    ["docker --context x ps", "watch"],
    ["systemctl --user status a", "watch"],
    ["git -c color.ui=never status", "watch"],
    ["npm run build -- $X", "run"],
    ["npm --cache a ls", "write"],
    ["yarn workspace a test", "run"],
    ["pnpm -w add a", "write"],
    ["pip --python ./a list", "write"],
    ["/usr/lib/git-core/git-push", "write"],
    ["npm --unknown ls x", "write"],
    ["npm ls $X", "write"],
    ["npm -w a install", "write"],
    ["git -c core.pager=x log", "write"],
  ])("%s is a %s", (line, expected) => {
    expect(
      parts(line)
        .map((part) => part.class)
        .at(-1),
    ).toBe(expected);
  });
});

describe("a subcommand that is not seen is hidden", () => {
  test.each([
    "yarn run $X",
    "bun run $X",
    "git submodule $X a",
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
    "gh api $X",
    "helm upgrade $X a",
    "gcloud compute instances describe $X",
    "docker compose -f $X up",
    "kubectl create -f $X",
    'git stash -m "$X"',
    "npm run build $X",
  ])("and nothing is in %s", (line) => {
    expect(isSeen(line)).toBe(true);
  });
});
