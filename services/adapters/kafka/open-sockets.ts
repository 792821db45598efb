/** The connections of a client: kafkajs ends none before all that was asked on it is answered, or late. */
import type { Socket } from "node:net";
import type { ISocketFactory } from "kafkajs";

export class OpenSockets {
  readonly #make: ISocketFactory;
  readonly #open = new Set<Socket>();
  #isEnded = false;

  /** @param make as kafkajs makes them. */
  constructor(make: ISocketFactory) {
    this.#make = make;
  }

  /** For the client. */
  readonly open: ISocketFactory = (address) => {
    if (this.#isEnded) throw new Error("the client was given up: it connects to nothing any more");
    const socket = this.#make(address);
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  };

  /** Whatever waits for an answer fails now, and nothing is connected any more. */
  end(): void {
    this.#isEnded = true;
    for (const socket of this.#open) socket.destroy(new Error("the client was given up"));
  }
}
