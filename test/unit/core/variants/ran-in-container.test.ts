// What runs in a container is seen as what runs beside it.
import { describe, expect, test } from "vitest";
import { readShell as read } from "../../../support/core/read-shell.ts";

describe("the command in a container is seen", () => {
  test.each([
    "docker exec c deploy x",
    "docker exec -it -w /x c deploy x",
    "docker exec -itw /x -u1 --env A=1 c deploy x",
    "docker exec c bash -c 'cd a && deploy x'",
    "docker container exec c deploy x",
    "docker --context a exec c deploy x",
    "docker compose exec -T app sh -c 'deploy x'",
    "docker compose -f a.yml exec app deploy x",
    "docker-compose run --rm app deploy x",
    "podman-compose exec app deploy x",
    "nerdctl compose exec app deploy x",
    "docker run --rm -v a:b img sh -c 'deploy x'",
    'docker run --rm --env=$A -v"$PWD":/x -v $(pwd):/y -e B=$B --env=$C --env=$D --env=$E img deploy x',
    "docker run --new img deploy x",
    "docker run --new a --newer img deploy x",
    "docker run -z 1 -y 2 -x 3 --new img deploy x",
    "docker exec $C deploy x",
    "docker exec $OPTIONS c deploy x",
    "docker exec $(docker ps -q) deploy x",
    "docker run --entrypoint deploy img x",
    "docker run --entrypoint=sh img -c 'deploy x'",
    "docker run --entrypoint '' img deploy x",
    "docker run --entrypoint= img deploy x",
    "podman exec c deploy x",
    "kubectl exec p -- deploy x",
    "kubectl -n a exec -it deploy/p -c c -- sh -c 'deploy x'",
    "kubectl exec -c c p -i deploy x",
    "kubectl exec $P -- deploy x",
    "kubectl run p --image=i --restart=Never -- deploy x",
    "oc exec p -- deploy x",
    "sudo docker exec c deploy x",
  ])("%s", (line) => {
    const { texts, isSeen } = read(line);
    expect([isSeen, texts]).toEqual([true, expect.arrayContaining(["deploy x"])]);
  });
});

test.each([
  "docker exec c $X",
  "docker exec c sh",
  "docker run -a 1 --z1 1 --z2 2 --z3 3 --z4 4 --z5 5 img deploy",
  "docker run --entrypoint $X img",
  'docker run --entrypoint="$X" img',
  "kubectl exec p -- $X",
  "kubectl exec p -- bash",
])("%s hides what runs", (line) => {
  expect(read(line).isSeen).toBe(false);
});

test.each([
  ["docker run --rm img", "run"],
  ["docker run --rm img --version", "run"],
  ["docker run", "run"],
  ["docker run --new", "run"],
  ["docker run --entrypoint", "run"],
  ["docker exec $C cat $F", "run"],
  ["docker exec c ls", "run"],
  ["docker exec c rm a", "write"],
  ["docker --new a exec c ls", "write"],
  ["docker ps -a", "watch"],
  ["docker logs exec c rm a", "watch"],
  ["kubectl get pods", "watch"],
  ["kubectl exec p", "run"],
  ["kubectl exec p -- ls", "run"],
  ["kubectl logs exec -- rm a", "watch"],
])("%s hides nothing and is a %s", (line, expected) => {
  const { isSeen, classes } = read(line);
  expect([isSeen, classes]).toEqual([true, [expected]]);
});
