/**
 * A proxy between clients and brokers that sees every request and answer as a whole. A test makes it hold,
 * drop or change one of them, or cut the connection at that point.
 */
import {
  type AddressInfo,
  createServer,
  connect as dial,
  type Server,
  type Socket,
} from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type AddressBook, type Cast, readdressed } from "./addresses.ts";
import { type Api, Frames, framed, type RequestHead, requestHead } from "./wire.ts";

export type Deed =
  /** Cuts the connection before the broker sees the request. */
  | { readonly type: "cut-before" }
  /** Cuts the connection after the broker has done the request, before its answer. */
  | { readonly type: "cut-after" }
  /** Drops the answer of the broker, which has done the request, and keeps the connection. */
  | { readonly type: "swallow" }
  /** Delays the answer until `until` resolves. */
  | { readonly type: "hold"; readonly until: Promise<void> }
  /** Delays each answer by this time. */
  | { readonly type: "delay"; readonly ms: number }
  /** Delays the request until `until` resolves. */
  | { readonly type: "hold-before"; readonly until: Promise<void> }
  /** The proxy answers in place of the broker, with these bytes after the correlation id. */
  | {
      readonly type: "answer";
      readonly make: (request: Buffer) => Buffer;
      /** The answer waits for this. */
      readonly after?: Promise<void>;
    }
  /** Changes the broker's answer: the frame from its correlation id on. */
  | { readonly type: "edit"; readonly edit: (answer: Buffer) => Buffer }
  /** Changes nothing; `struck` reports that the broker has answered. */
  | { readonly type: "pass" };

export type Rule = {
  readonly api: Api;
  readonly deed: Deed;
  /** How many requests it strikes. Default 1. */
  readonly times?: number;
  /** Selects requests by their whole frame and by the node that they were sent to. */
  readonly where?: (frame: Buffer, node: number) => boolean;
};

type Armed = Rule & { left: number; readonly strike: () => void };

type Waiting = { readonly head: RequestHead; readonly rule: Armed | undefined };

type Line = { readonly client: Socket; readonly broker: Socket; readonly cut: () => void };

type Door = { readonly server: Server; readonly port: number; readonly node: number };

export class KafkaProxy {
  readonly #doors: Door[] = [];
  readonly #upstream = new Map<number, { readonly host: string; readonly port: number }>();
  readonly #sockets = new Set<Socket>();
  readonly #seen = new Map<Api, number>();
  readonly #frames: { readonly api: Api; readonly frame: Buffer }[] = [];
  readonly #book: AddressBook;
  #rules: Armed[] = [];
  #clients = 0;

  private constructor(cast: Cast) {
    this.#book = {
      portFor: (brokerPort) =>
        this.#doors.find((door) => this.#portBehind(door) === brokerPort)?.port,
      portOfNode: (node) => this.#doors.find((door) => door.node === node)?.port ?? 0,
      cast,
    };
  }

  /** @param cast several nodes that the first broker plays; the test chooses their leaders. */
  static async start(brokers: readonly string[], cast: Cast = null): Promise<KafkaProxy> {
    const proxy = new KafkaProxy(cast);
    const nodes = cast?.nodes ?? brokers.map((_, index) => index);
    for (const [index, node] of nodes.entries()) {
      const address = (cast === null ? brokers[index] : brokers[0]) ?? "";
      const [host = "", port = ""] = address.split(":");
      proxy.#upstream.set(node, { host, port: Number(port) });
      await proxy.#open(node);
    }
    return proxy;
  }

  get brokers(): readonly string[] {
    return this.#doors.map(({ port }) => `127.0.0.1:${port}`);
  }

  /** How many clients are connected. */
  get connections(): number {
    return this.#clients;
  }

  /** How many requests of a kind the proxy has seen, struck or not. */
  seen(api: Api): number {
    return this.#seen.get(api) ?? 0;
  }

  /** The requests of a kind that the proxy has seen, as whole frames. */
  frames(api: Api): readonly Buffer[] {
    return this.#frames.filter((one) => one.api === api).map(({ frame }) => frame);
  }

  /** Arms a rule. `struck` resolves when it strikes for the first time. */
  arm(rule: Rule): { readonly struck: Promise<void> } {
    let strike = (): void => undefined;
    const struck = new Promise<void>((resolve) => {
      strike = resolve;
    });
    this.#rules.push({ ...rule, left: rule.times ?? 1, strike });
    return { struck };
  }

  /** Forgets all rules. */
  disarm(): void {
    this.#rules = [];
  }

  /** Cuts every connection; new ones are accepted. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cutAll();
    await Promise.all(
      this.#doors.map(
        ({ server }) => new Promise<void>((resolve) => server.close(() => resolve())),
      ),
    );
  }

  #portBehind({ node }: Door): number | undefined {
    return this.#upstream.get(node)?.port;
  }

  async #open(node: number): Promise<void> {
    const server = createServer((client) => this.#serve(client, node));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#doors.push({ server, port: (server.address() as AddressInfo).port, node });
  }

  #serve(client: Socket, node: number): void {
    const { host = "", port = 0 } = this.#upstream.get(node) ?? {};
    const broker = dial({ host, port });
    this.#clients += 1;
    client.once("close", () => {
      this.#clients -= 1;
    });
    const waiting = new Map<number, Waiting>();
    const cut = (): void => {
      client.destroy();
      broker.destroy();
    };
    for (const socket of [client, broker]) {
      socket.setNoDelay(true);
      // Each write waits for a connection that is not open yet.
      socket.setMaxListeners(0);
      this.#sockets.add(socket);
      socket.on("error", cut);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    const requests = new Frames();
    client.on("data", (chunk: Buffer) => {
      for (const frame of requests.push(chunk)) {
        const forward = this.#onRequest(frame, node, waiting, { client, broker, cut });
        if (forward && !broker.destroyed) broker.write(framed(frame));
      }
    });
    const answers = new Frames();
    broker.on("data", (chunk: Buffer) => {
      for (const frame of answers.push(chunk)) void this.#onAnswer(frame, waiting, client, cut);
    });
  }

  /** True if the broker gets the request. */
  #onRequest(
    frame: Buffer,
    node: number,
    waiting: Map<number, Waiting>,
    { client, broker, cut }: Line,
  ): boolean {
    const head = requestHead(frame);
    if (head.api !== undefined) {
      this.#seen.set(head.api, this.seen(head.api) + 1);
      this.#frames.push({ api: head.api, frame: Buffer.from(frame) });
    }
    const rule = this.#rules.find(
      ({ api, left, where }) => api === head.api && left > 0 && (where?.(frame, node) ?? true),
    );
    if (rule !== undefined) rule.left -= 1;
    if (rule?.deed.type === "cut-before") {
      rule.strike();
      cut();
      return false;
    }
    if (rule?.deed.type === "answer") {
      void answerFor(frame, rule.deed, client).then(rule.strike);
      return false;
    }
    if (rule?.deed.type === "hold-before") {
      rule.strike();
      void rule.deed.until.then(() => {
        waiting.set(head.correlationId, { head, rule });
        if (!broker.destroyed) broker.write(framed(frame));
      });
      return false;
    }
    waiting.set(head.correlationId, { head, rule });
    return true;
  }

  async #onAnswer(
    frame: Buffer,
    waiting: Map<number, Waiting>,
    client: Socket,
    cut: () => void,
  ): Promise<void> {
    const correlationId = frame.readInt32BE(0);
    const request = waiting.get(correlationId);
    waiting.delete(correlationId);
    const deed = request?.rule?.deed;
    if (deed?.type !== "pass") request?.rule?.strike();
    if (deed?.type === "cut-after") {
      cut();
      return;
    }
    if (deed?.type === "swallow") return;
    if (deed?.type === "hold") await deed.until;
    if (deed?.type === "delay") await sleep(deed.ms);
    if (client.destroyed) return;
    const answer = request === undefined ? frame : readdressed(frame, request.head, this.#book);
    client.write(framed(deed?.type === "edit" ? deed.edit(answer) : answer));
    if (deed?.type === "pass") request?.rule?.strike();
  }
}

async function answerFor(
  frame: Buffer,
  { make, after }: Deed & { readonly type: "answer" },
  client: Socket,
): Promise<void> {
  await after;
  const correlation = frame.subarray(4, 8);
  if (!client.destroyed) client.write(framed(Buffer.concat([correlation, make(frame)])));
}
