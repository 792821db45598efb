/** Journals a loss that a person accepted, while no gate runs on the journal. Decides nothing. */
import type { RegisteredSecrets } from "./anchor.ts";
import { commitBatch } from "./commit-batch.ts";
import type { Engine } from "./engine.ts";
import { headOf } from "./journal-head.ts";
import { BatchBuilder } from "./process-batch.ts";
import { restorePartition } from "./restore.ts";
import type { RestoreContext } from "./restore-context.ts";

type FilledIn =
  | "reportedSeq"
  | "onReplayed"
  | "secrets"
  | "states"
  | "distrustsStore"
  | "onStart"
  | "makeRoom";

export type AcceptanceContext = Omit<RestoreContext, FilledIn> & {
  readonly secrets: RegisteredSecrets;
};

/** @throws PipelineError, as a restore and a commit do. */
export async function journalAcceptance(context: AcceptanceContext): Promise<void> {
  const { partition, log, codec, logger, metrics, heads, secrets } = context;
  const restoring: RestoreContext = {
    ...{ ...context, reportedSeq: null, states: null, distrustsStore: false },
    ...{ onReplayed: () => undefined, onStart: () => undefined },
    makeRoom: () => Promise.resolve(),
  };
  const { state, writer, acceptance } = await restorePartition(restoring, async () => null);
  try {
    const builder = new BatchBuilder(
      {
        ...{ partition, codec, logger, metrics },
        ...{ partitions: log.partitions, hashEvery: Number.MAX_SAFE_INTEGER },
        keepsRecords: false,
        eventSource: null,
        engine: engineWithoutInputs(context),
        anchor: { registered: secrets, repeatAfterMs: 0, spanMs: context.spanMs, acceptance },
      },
      state,
    );
    builder.addIdle();
    const outcome = await commitBatch(writer, state, builder.build());
    if (outcome.type !== "committed") throw outcome.error;
    await heads?.save(partition, headOf(log, state));
  } finally {
    await writer.close();
  }
}

/** An engine for records without an input, which need no decision. */
function engineWithoutInputs({ fold }: AcceptanceContext): Engine {
  return {
    ...fold,
    policyRevision: "none",
    hidesArguments: false,
    seal: (_state, input) => input,
    decide: () => [],
  };
}
