// A registry that answers as it is told to: what no real one does when a test asks for it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export type StubMood =
  /** As a registry should. */
  | "well"
  /** No answer at all. */
  | "silent"
  /** An answer that breaks off in its middle. */
  | "broken"
  | "failing"
  /** It lost its data: nothing is there. */
  | "empty"
  /** Not a registry, but what stands before it. */
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

  /** Times that an id was asked for. */
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

  /** Nothing listens any more; `start` listens where it did before. */
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
