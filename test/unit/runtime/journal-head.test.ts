import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Acceptance, RegisteredSecrets } from "../../../services/runtime/anchor.ts";
import type { HeadStore, JournalHead, StoredHead } from "../../../services/runtime/journal-head.ts";
import type { StreamTask } from "../../../services/runtime/task.ts";
import { DAY_MS, RuntimeKit, until } from "../../support/runtime-kit.ts";

class MemoryHeads implements HeadStore {
  readonly remedy = "Bring it back";
  held: StoredHead | null = null;
  saves = 0;
  fails = false;

  async load(): Promise<StoredHead | null> {
    if (this.fails) throw new Error("gone");
    return this.held;
  }

  async save(_: number, head: JournalHead): Promise<void> {
    if (this.fails) throw new Error("gone");
    this.saves += 1;
    this.held = { ...head, acceptance: null };
  }
}

function secretsOf(current: string, ...others: readonly string[]): RegisteredSecrets {
  const all = [current, ...others];
  return {
    currentKeyId: current,
    fingerprints: new Map(all.map((keyId) => [keyId, `print of ${keyId}`])),
    remedy: "Name it",
    replaceLost: () => undefined,
  };
}

let kit: RuntimeKit;
let heads: MemoryHeads;

beforeEach(() => {
  kit = new RuntimeKit();
  heads = new MemoryHeads();
});
afterEach(() => kit.close());

function start(secrets: RegisteredSecrets | null = secretsOf("a")): StreamTask {
  return kit.start({
    checkpoints: null,
    context: { heads, secrets },
    options: { offsetsGraceMs: 0 },
  });
}

async function decide(count: number, secrets?: RegisteredSecrets): Promise<void> {
  const task = start(secrets);
  for (let call = 0; call < count; call += 1) {
    const end = await kit.log.endOffset("decisions", 0);
    await kit.propose();
    await kit.journaled(end + 1);
  }
  await task.close();
}

async function failureOf(task: StreamTask): Promise<string> {
  await until(() => task.status.state === "closed");
  return `${task.status.error?.code}: ${task.status.error?.message}`;
}

describe("the head of a journal", () => {
  it("is written when the task closes, and says where the journal ends", async () => {
    await decide(3);
    const last = (await kit.journal()).at(-1);
    expect(heads.held).toMatchObject({ seq: 3, journalOffset: 3, topicId: "c/decisions" });
    expect(last?.seq).toBe(3);
    await failsNot();
  });

  it("is never ahead of the journal", async () => {
    const task = start();
    for (let call = 1; call <= 20; call += 1) {
      kit.clock.advance(call % 3 === 0 ? 2_000 : 10);
      await kit.propose();
      await kit.journaled(call);
      const end = await kit.log.endOffset("decisions", 0);
      expect(heads.held?.journalOffset ?? 0).toBeLessThanOrEqual(end);
    }
    await task.close();
    expect(heads.saves).toBeGreaterThan(2);
  });

  it.each([
    ["that ends before the head", { journalOffset: 9, seq: 9 }, "had come to 9"],
    ["whose topic was created again", { topicId: "another" }, "was made anew"],
    ["with another history", { chainHead: "ab".repeat(32) }, "another history"],
  ])("refuses a journal %s", async (_, change, text) => {
    await decide(3);
    if (heads.held !== null) heads.held = { ...heads.held, ...change };
    const failure = await failureOf(start());
    expect(failure).toMatch(/^journal_lost: /);
    expect(failure).toContain(text);
    expect(failure).toContain("Bring it back");
  });

  it("accepts a journal that is further, or whose beginning retention has deleted", async () => {
    await decide(2);
    const early = heads.held;
    await decide(2);
    heads.held = early;
    await failsNot();
    kit.clock.advance(40 * DAY_MS);
    await decide(1);
    kit.clock.advance(40 * DAY_MS);
    await kit.log.applyRetention({ keepMs: 20 * DAY_MS });
    expect(await kit.log.startOffset("decisions", 0)).toBeGreaterThan(2);
    heads.held = early;
    await failsNot();
  });

  it("only causes a warning where its store does not answer", async () => {
    await decide(1);
    heads.fails = true;
    await failsNot();
    expect(kit.lines.map(({ message }) => message).join()).toContain("may go unnoticed");
  });

  it("gives way to an acceptance, which is journaled before anything is decided", async () => {
    await decide(3);
    const acceptance: Acceptance = {
      ...{ by: "ann", reason: "why", atMs: 5 },
      ...{ losses: ["a lot"], lostKeyIds: ["a"] },
    };
    const replaced: string[] = [];
    const secrets = { ...secretsOf("b"), replaceLost: (keyId: string) => replaced.push(keyId) };
    if (heads.held !== null) heads.held = { ...heads.held, journalOffset: 9, seq: 9, acceptance };
    await kit.propose();
    const task = start(secrets);
    await kit.journaled(5);
    await task.close();
    const [first, second] = (await kit.journal()).slice(3);
    expect(first?.input.type).toBe("idle");
    expect(first?.anchor?.accepted).toEqual({
      by: "ann",
      reason: "why",
      atMs: 5,
      losses: ["a lot"],
    });
    expect(first?.anchor).toMatchObject({ lostKeyIds: ["a"], secrets: [{ keyId: "b" }] });
    expect(second?.anchor).toBeNull();
    expect(replaced).toEqual(["a"]);
    expect(heads.held).toMatchObject({ seq: 5, acceptance: null });
  });

  async function failsNot(): Promise<void> {
    const task = start();
    await until(() => task.status.state !== "restoring");
    expect(task.status.state).toBe("running");
    await task.close();
  }
});

describe("the anchor of a journal", () => {
  const anchors = async () => (await kit.journal()).map(({ anchor }) => anchor);
  const ids = async () =>
    (await anchors()).map((anchor) => anchor?.secrets.map(({ keyId }) => keyId).join() ?? null);

  it("is on the first record, and on the first under another secret", async () => {
    await decide(2);
    await decide(2, secretsOf("b", "a"));
    expect(await ids()).toEqual(["a", null, "b,a", null]);
  });

  it("is repeated before retention deletes it, on records of an idle journal too", async () => {
    await decide(1);
    kit.clock.advance(3 * DAY_MS);
    await decide(1);
    // The deadlines of the calls have passed by now: the only records left to write are idle ones.
    kit.clock.advance(3 * DAY_MS);
    const task = start();
    const idle = async () => (await kit.journal()).filter(({ input }) => input.type === "idle");
    await until(async () => {
      kit.clock.advance(DAY_MS);
      return (await idle()).length > 1;
    });
    await task.close();
    expect((await ids()).slice(0, 2)).toEqual(["a", "a"]);
    expect((await idle()).map(({ anchor }) => anchor?.secrets[0]?.keyId)).toEqual(
      (await idle()).map(() => "a"),
    );
  });

  it("refuses a gate without a secret that calls may still need", async () => {
    await decide(1);
    expect(await failureOf(start(secretsOf("b")))).toMatch(/^secret_missing: .*`a`.*`b`.*Name it/);
    await decide(1, secretsOf("b", "a"));
    expect(await failureOf(start(secretsOf("b")))).toMatch(/^secret_missing: .*`a`/);
    const forged = {
      ...secretsOf("b", "a"),
      fingerprints: new Map([
        ["b", "?"],
        ["a", "?"],
      ]),
    };
    expect(await failureOf(start(forged))).toMatch(/^secret_missing: /);
  });

  it("drops a secret once no call can need it any more", async () => {
    await decide(1);
    await decide(1, secretsOf("b", "a"));
    kit.clock.advance(9 * DAY_MS);
    await decide(1, secretsOf("b"));
    const last = (await anchors()).findLast((anchor) => anchor !== null);
    expect(last?.secrets.map(({ keyId }) => keyId)).toEqual(["b"]);
    const task = start(secretsOf("b"));
    await until(() => task.status.state !== "restoring");
    expect(task.status.state).toBe("running");
  });
});
