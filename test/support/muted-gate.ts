// A gate whose journal can be withheld from its client for a while, as if it were busy or distant.
import { onTestFinished } from "vitest";
import type { Callgate } from "../../services/client/api/callgate.ts";
import { composeCallgate } from "../../services/client/compose-callgate.ts";
import { GateClient } from "../../services/client/gate-client.ts";
import type { GateLink, JournalListener } from "../../services/client/gate-link.ts";
import { linkToEmbedded } from "../../services/library/embedded-link.ts";
import { openEmbedded } from "../../services/library/open-embedded.ts";
import type { CommittedRecord } from "../../services/runtime/journal.ts";

export type MutedGate = {
  readonly gate: Callgate;
  /** Closing the gate closes it. */
  readonly link: GateLink;
  /** Withholds the journal from the first such record on, until `unmute`. */
  mute(from?: (record: CommittedRecord) => boolean): void;
  unmute(): void;
};

const everything = (): boolean => true;

export async function openMuted(
  tools: object,
  timeoutMs = 150,
  policies: object = {},
): Promise<MutedGate> {
  const policy = { document: { ...policies, tool_schemas: tools } };
  const embedded = await openEmbedded({ policy, dataDir: false });
  const base = linkToEmbedded(embedded);
  let from: ((record: CommittedRecord) => boolean) | undefined;
  let isMuted = false;
  const pending: (() => void)[] = [];
  const onCommitted = (listener: JournalListener): void =>
    base.onCommitted((records, partition) => {
      for (const record of records) {
        isMuted ||= from?.(record) === true;
        const tell = (): void => listener([record], partition);
        if (isMuted) pending.push(tell);
        else tell();
      }
    });
  const link: GateLink = {
    ...base,
    get policyRevision() {
      return base.policyRevision;
    },
    get outputBytes() {
      return base.outputBytes;
    },
    onCommitted,
  };
  const gate = composeCallgate(link, new GateClient(link, { timeoutMs, onLost: undefined }));
  onTestFinished(() => gate.close());
  return {
    ...{ gate, link },
    mute: (isFirst = everything) => {
      from = isFirst;
    },
    unmute: () => {
      from = undefined;
      isMuted = false;
      for (const tell of pending.splice(0)) tell();
    },
  };
}
