import { expect, it } from "vitest";
import { findFreePorts } from "../../../infra/local/free-ports.js";

it("never returns a port twice, although nobody may listen on it yet", async () => {
  const ports = new Set<number>();
  // Of twelve thousand ports, so many would meet by chance.
  for (let call = 0; call < 60; call += 1) {
    for (const port of await findFreePorts(10)) ports.add(port);
  }
  expect(ports.size).toBe(600);
});
