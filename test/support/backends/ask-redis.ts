import { connect } from "node:net";

/** Sends one command to a Redis without a client; resolves to the first line of its answer. */
export function askRedis(url: string, command: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    const socket = connect(Number(port), hostname, () => {
      socket.write(`*${command.length}\r\n${words.join("")}`);
    });
    socket.once("error", reject);
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString().split("\r\n")[0] ?? "");
    });
  });
}
