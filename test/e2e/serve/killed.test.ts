// A server is killed while 16 clients use it: every answer stays, and no effect happens twice.
import { expect, test } from "vitest";
import { killEmbedded } from "../../support/serve/kill-embedded.ts";

/** `npm run test:faults` kills it 50 times. */
const KILLS = 5;

test("nothing is lost and nothing doubled, whenever the server is killed", async () => {
  const { problems, lost, doubled, calls, retries } = await killEmbedded(KILLS);
  expect(problems).toEqual([]);
  expect({ lost, doubled }).toEqual({ lost: 0, doubled: 0 });
  expect(calls).toBeGreaterThan(KILLS * 20);
  // Fewer would mean that no request was under way when the server was killed.
  expect(retries).toBeGreaterThan(KILLS);
});
