// HTTP servers that are killed while clients use them.
import { killEmbedded } from "../../support/serve/kill-embedded.ts";
import type { Row } from "../lab/row.ts";

const KILLS = 50;

export const serverKilled: Row = {
  name: "`callgate serve` killed",
  about: "16 clients send unanswered calls again: every answer stays, no effect happens twice",
  // The e2e tests have the short form, with 5 kills.
  inShort: false,
  faultsMin: () => KILLS,
  withinSeconds: 900,
  run: async () => {
    const { kills, calls, outcomes, lost, doubled, worstGapMs, problems } =
      await killEmbedded(KILLS);
    const between = { calls, problems: [] };
    const verdict = { calls, ...outcomes, lost, doubled, problems, between };
    return {
      ...{ faults: kills, inTransaction: 0, worstGapMs },
      finish: async () => verdict,
      logs: () => "",
    };
  },
};
