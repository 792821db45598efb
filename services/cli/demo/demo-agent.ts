/** The scripted agent: makes one call after the other and shows each outcome. */
import { type Callgate, isRefused, type Refused } from "../../library/callgate.ts";
import {
  type DemoView,
  plainWords,
  type ShownDecision,
  type ShownKind,
  shortJson,
} from "./view.ts";
import { createWorld, type World, type WorldTools } from "./world.ts";

type ToolName = keyof WorldTools & string;
type ArgumentsOf<Name extends ToolName> = Parameters<WorldTools[Name]>[0];

export class DemoAgent {
  readonly world: World;
  readonly totals: Record<ShownKind, number> = {
    ...{ allowed: 0, failed: 0, answered: 0, refused: 0, held: 0 },
  };
  readonly #view: DemoView;
  readonly #tools: ReturnType<typeof guarded>;
  #conversationId = "";
  #step = 0;
  #hasRun = false;

  constructor(gate: Callgate, view: DemoView) {
    const { world, tools } = createWorld(() => {
      this.#hasRun = true;
    });
    this.world = world;
    this.#view = view;
    this.#tools = guarded(gate, tools, () => ({
      conversationId: this.#conversationId,
      turn: 1,
      step: this.#step,
    }));
  }

  begin(conversationId: string): void {
    this.#conversationId = conversationId;
    this.#step = 0;
  }

  /** Makes one call and shows its decision. Returns the refusal, if the call did not run. */
  async call<Name extends ToolName>(
    name: Name,
    args: ArgumentsOf<Name>,
  ): Promise<Refused | undefined> {
    this.#step += 1;
    return this.again(name, args);
  }

  /** The same call under the same id: it runs if it was approved in between. */
  async again<Name extends ToolName>(
    name: Name,
    args: ArgumentsOf<Name>,
  ): Promise<Refused | undefined> {
    this.#hasRun = false;
    const run = this.#tools[name] as (input: object, options: object) => Promise<unknown>;
    const call = { tool: name, args };
    try {
      const answer = await run(args, { callId: `call-${this.#step}` });
      await this.#show({ ...call, ...this.#describeAnswer(answer) });
      return isRefused(answer) ? answer : undefined;
    } catch (error) {
      if (!this.#hasRun) throw error;
      const words = `failed: ${error instanceof Error ? error.message : String(error)}`;
      await this.#show({ ...call, kind: "failed", reason: null, words });
      return undefined;
    }
  }

  #describeAnswer(answer: unknown): Pick<ShownDecision, "kind" | "reason" | "words"> {
    if (isRefused(answer)) {
      const { outcome: kind, reason } = answer;
      return { kind, reason, words: plainWords(reason) };
    }
    if (this.#hasRun) return { kind: "allowed", reason: null, words: `ran: ${shortJson(answer)}` };
    const words = "read before: answered from memory";
    return { kind: "answered", reason: "duplicate_call", words };
  }

  #show(shown: ShownDecision): Promise<void> {
    this.totals[shown.kind] += 1;
    return this.#view.decision(shown);
  }
}

function guarded(
  gate: Callgate,
  tools: WorldTools,
  context: () => { conversationId: string; turn: number; step: number },
) {
  return gate.guard(tools, context);
}
