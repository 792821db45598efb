// A registry whose answers a test chooses, such as no real one gives on request.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export type StubMood =
  /** As a registry should. */
  | "well"
  /** No answer at all. */
  | "silent"
  /** An answer that ends in the middle. */
  | "broken"
  | "failing"
  /** A registry that lost its data. */
  | "empty"
  /** An answer of a proxy before the registry. */
  | "page";

export class StubRegistry {
  readonly schemas = new Map<number, string>();
  readonly asked: string[] = [];
  mood: StubMood = "well";
  readonly #server: Server;
  #port = 0;

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** How often an id was requested. */
  askedFor(id: number): number {
    return this.asked.filter((path) => path === `/schemas/ids/${id}`).length;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(this.#port, "127.0.0.1", resolve);
    });
    const address = this.#server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
  }

  /** Stops listening; `start` listens at the same address again. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    this.asked.push(path);
    switch (this.mood) {
      case "silent":
        return;
      case "broken":
        response.writeHead(200, { "content-length": "1000" }).write('{"schema":');
        setImmediate(() => response.destroy());
        return;
      case "failing":
        response.writeHead(503).end('{"error_code":50301,"message":"not now"}');
        return;
      case "page":
        response.writeHead(404).end('{"message":"no Route matched with those values"}');
        return;
      case "empty":
        response.writeHead(404).end('{"error_code":40403,"message":"Schema not found"}');
        return;
      case "well":
        this.#answerWell(path, response);
    }
  }

  #answerWell(path: string, response: ServerResponse): void {
    const id = /^\/schemas\/ids\/(\d+)$/.exec(path)?.[1];
    const schema = id === undefined ? undefined : this.schemas.get(Number(id));
    if (schema !== undefined) response.end(JSON.stringify({ schema }));
    else if (id === undefined) response.end('{"id":1,"version":1,"schema":"\\"long\\""}');
    else response.writeHead(404).end('{"error_code":40403,"message":"Schema not found"}');
  }
}
