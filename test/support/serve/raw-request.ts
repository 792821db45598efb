// Requests that `fetch` does not send: under another Host, with headers twice, with half a body.
import { request } from "node:http";
import { connect, type Socket } from "node:net";

export type RawAnswer = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
};

export type RawRequest = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
};

export function sendRaw(
  url: string,
  { method, path, headers, body }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, {
      method: method ?? "GET",
      headers: { ...headers },
      agent: false,
    });
    sent.once("error", reject);
    sent.once("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.once("error", reject);
      answer.once("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      );
    });
    sent.end(body);
  });
}

/** A connection that sends what a test writes, and collects what comes. */
export class RawConnection {
  readonly socket: Socket;
  received = "";
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port) });
    this.socket.setEncoding("latin1").on("data", (chunk: string) => {
      this.received += chunk;
    });
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()));
    // A connection that the server resets is one that it has closed.
    this.socket.on("error", () => undefined);
  }

  write(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.socket.write(text, "latin1", () => resolve());
    });
  }

  /** The statuses of the answers so far. */
  statuses(): readonly number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  }

  end(): void {
    this.socket.destroy();
  }
}
