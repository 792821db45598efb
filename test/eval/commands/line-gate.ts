/** Decides one line of shell at a time, each as the first call of a conversation of its own. */
import { openCallgate } from "../../../services/library/callgate.ts";

export interface LineVerdict {
  readonly outcome: "allowed" | "held" | "denied";
  readonly isRead: boolean;
}

export interface LineGate {
  readonly decide: (line: string) => Promise<LineVerdict>;
  readonly close: () => Promise<void>;
}

const SECRET = "evaluation-of-commands-0123456789";

/** @param policy a file, or a policy document. @param tool the tool whose `command` is a line. */
export async function openLineGate(policy: string | object, tool: string): Promise<LineGate> {
  const gate = await openCallgate({ policy, dataDir: false, secret: SECRET });
  let conversations = 0;
  return {
    decide: async (line) => {
      conversations += 1;
      const conversationId = `line-${conversations}`;
      const call = { conversationId, turn: 1, step: 1, tool, arguments: { command: line } };
      const { outcome, isRead } = await gate.propose(call);
      return { outcome: outcome === "refused" ? "denied" : outcome, isRead };
    },
    close: () => gate.close(),
  };
}
