// A data directory that lost state, as an operator sees it: verify, recover, and continue.
import { cpSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDirectory, openGate } from "../../support/open-gate.ts";
import { runCallgate } from "../../support/run-callgate.ts";

const callOf = (order: number) => ({
  conversationId: "c1",
  turn: 1,
  callId: `call-${order}`,
  tool: "charge_card",
  arguments: { order: String(order) },
});

async function decide(dataDir: string, ...orders: readonly number[]): Promise<void> {
  const gate = await openGate({ dataDir });
  for (const order of orders) await gate.propose(callOf(order));
  await gate.close();
}

const LOSSES: readonly (readonly [string, (dataDir: string, earlier: string) => void, RegExp])[] = [
  ["emptied", (dataDir) => truncateSync(join(dataDir, "log.mdb"), 0), /log\.mdb` is empty/],
  ["missing", (dataDir) => rmSync(join(dataDir, "log.mdb")), /log\.mdb` is missing/],
  [
    "rolled back",
    (dataDir, earlier) => cpSync(join(earlier, "log.mdb"), join(dataDir, "log.mdb")),
    /ends at offset 1 and had come to 3/,
  ],
];

test.each(LOSSES)(
  "a log that is %s fails verify, and opens after a person accepts the loss",
  async (_, lose, said) => {
    const dataDir = join(makeDirectory(), "data");
    const earlier = `${dataDir}-earlier`;
    await decide(dataDir, 7);
    cpSync(dataDir, earlier, { recursive: true });
    await decide(dataDir, 8, 9);
    for (const name of ["log.mdb-lock", "gate.heartbeat"])
      rmSync(join(dataDir, name), { force: true });
    lose(dataDir, earlier);

    const at = ["--data-dir", dataDir];
    const verified = await runCallgate(["verify", ...at]);
    expect(verified.code).not.toBe(0);
    expect(verified.stdout + verified.stderr).toMatch(said);
    const shown = await runCallgate(["recover", ...at, "--json"]);
    expect(shown).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(shown.stdout)).toMatchObject({ accepted: false });
    expect(JSON.parse(shown.stdout).losses.join()).toMatch(said);
    expect((await runCallgate(["verify", ...at])).code).not.toBe(0);

    const accepted = await runCallgate(["recover", ...at, "--accept-loss", "--by", "ann"]);
    expect(accepted).toMatchObject({ code: 0, stderr: "" });
    expect(accepted.stdout).toContain("accepted by ann");
    expect(await runCallgate(["verify", ...at])).toMatchObject({ code: 0 });
    expect((await runCallgate(["recover", ...at])).stdout).toContain("nothing is lost");
    await decide(dataDir, 9);
  },
);

test("a directory with the secret of another fails verify", async () => {
  const root = makeDirectory();
  const [dataDir, other] = [join(root, "a"), join(root, "b")];
  await decide(dataDir, 1);
  await decide(other, 1);
  cpSync(join(other, "secret"), join(dataDir, "secret"));
  const { code, stdout } = await runCallgate(["verify", "--data-dir", dataDir]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/the secret of key id `[0-9a-f]{16}` is not here/);
});
