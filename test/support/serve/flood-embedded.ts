// A program that invents a conversation for each call, against a server with a small heap that is
// killed again and again: without bounds on memory it would die of its heap, and die again at each
// start.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDecisions, UNLIMITED } from "./kill-embedded.ts";
import type { KilledRun } from "./kill-servers.ts";
import { makeToken, ServeProcess } from "./serve-process.ts";

const POLICY = JSON.stringify({
  preset: "balanced",
  authorization: { default: "allow" },
  tool_schemas: { write_note: { effects: [{ resource: "note/{note}", kind: "update" }] } },
});
const HEAP_MIB = 160;
const MIB = 1024 * 1024;
const CLIENTS = 16;
/** At about 4 KiB each, the conversations of all lives would fill the heap. */
const CALLS_PER_LIFE = 12_000;
const CONVERSATIONS_MAX = 1_000_000;
const SAMPLES = 200;

type Answer = { readonly outcome: string; readonly decisionId: string };

export async function floodEmbedded(kills: number): Promise<KilledRun> {
  const directory = mkdtempSync(join(tmpdir(), "callgate-flood-"));
  writeFileSync(join(directory, "policy.yaml"), POLICY);
  const config = join(directory, "config.json");
  // Without the bound on conversations, which would end the flood sooner.
  const limits = { conversations: CONVERSATIONS_MAX };
  const state = { memoryBytes: 8 * MIB };
  writeFileSync(config, JSON.stringify({ serve: UNLIMITED, state, limits }));
  const dataDir = join(directory, "data");
  const token = makeToken(dataDir, ["propose"], { platform: true });
  const flood = new Flood(token);
  const start = (): Promise<ServeProcess> =>
    ServeProcess.start({
      ...{ policy: POLICY, directory, args: ["--config", config], embedded: true },
      env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
    });
  try {
    for (let life = 0; life <= kills; life += 1) {
      const server = await start();
      await flood.compare(server);
      await flood.propose(server, CALLS_PER_LIFE);
      await server.kill();
    }
    const { decisions, problems } = await readDecisions(dataDir);
    return flood.judge(kills, decisions, problems);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

class Flood {
  readonly #token: string;
  readonly #answers: Answer[] = [];
  readonly #repeats: Answer[] = [];
  readonly #problems: string[] = [];
  #lost = 0;
  #retries = 0;
  #worstGapMs = 0;

  constructor(token: string) {
    this.#token = token;
  }

  /** Proposes one call in each of so many new conversations. */
  async propose(server: ServeProcess, calls: number): Promise<void> {
    const end = this.#answers.length + calls;
    let next = this.#answers.length;
    const client = async (): Promise<void> => {
      while (next < end) {
        const number = next;
        next += 1;
        const startedMs = Date.now();
        this.#answers[number] = await this.#ask(server, number);
        this.#worstGapMs = Math.max(this.#worstGapMs, Date.now() - startedMs);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  /**
   * Asks again for calls of conversations that left memory in an earlier life, and proposes each of
   * them under another call id, which repeats it.
   */
  async compare(server: ServeProcess): Promise<void> {
    const stride = Math.max(1, Math.floor(this.#answers.length / SAMPLES));
    for (let number = 0; number < this.#answers.length; number += stride) {
      const again = await this.#ask(server, number);
      const repeat = await this.#ask(server, number, `life-${server.child.pid}`);
      this.#repeats.push(repeat);
      const isSame = JSON.stringify(again) === JSON.stringify(this.#answers[number]);
      if (isSame && repeat.outcome === "refused") continue;
      this.#lost += 1;
      const seen = [this.#answers[number], again, repeat];
      this.#problems.push(`call ${number}: ${JSON.stringify(seen)}`);
    }
  }

  async #ask(server: ServeProcess, number: number, callId = "call"): Promise<Answer> {
    const body = {
      ...{ tenantId: "default", conversationId: `invented-${number}`, callId },
      ...{ tool: "write_note", arguments: { note: number, text: "x".repeat(400) } },
    };
    for (;;) {
      const answer = await server.send("POST", "/v1/proposals", { token: this.#token, body });
      const { outcome, decisionId } = answer.body as Answer;
      if (answer.status === 200) return { outcome, decisionId };
      if (answer.status < 500) throw new Error(`${answer.status} ${answer.text}`);
      this.#retries += 1;
    }
  }

  judge(
    kills: number,
    decisions: ReadonlyMap<string, number>,
    problems: readonly string[],
  ): KilledRun {
    const answers = this.#answers;
    const calls = [...answers, ...this.#repeats];
    const doubled = calls.filter(({ decisionId }) => decisions.get(decisionId) !== 1).length;
    const allowed = answers.filter(({ outcome }) => outcome === "allowed").length;
    const outcomes = { allowed, refused: this.#repeats.length, held: 0 };
    const all = [...this.#problems, ...problems];
    if (doubled > 0) all.push(`${doubled} calls were not decided once`);
    if (allowed !== answers.length) all.push("a call in a conversation of its own was refused");
    return {
      ...{ calls: calls.length, outcomes, kills, retries: this.#retries, lost: this.#lost },
      ...{ doubled, worstGapMs: this.#worstGapMs, problems: all },
    };
  }
}
