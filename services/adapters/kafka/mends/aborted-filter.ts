type Message = {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly isControlRecord: boolean;
  readonly batchContext: { readonly producerId: string; readonly inTransaction: boolean };
};

type AbortedTransaction = { readonly producerId: string; readonly firstOffset: string };

const TYPE_AT = 2;
const ABORT = 0;

/**
 * kafkajs takes at most one aborted transaction for each message, in the order in which the broker
 * lists them, which is that of their ends: a short one inside a long one lets the long one's records
 * through. It also takes any record whose key is four zero bytes for an end.
 */
export function filterAborted<M extends Message>(input: {
  readonly messages: readonly M[];
  readonly abortedTransactions?: readonly AbortedTransaction[] | null;
}): readonly M[] {
  const { messages, abortedTransactions } = input;
  if (abortedTransactions == null || abortedTransactions.length === 0) return messages;
  const waiting = abortedTransactions
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset: Number(firstOffset) }))
    .sort((a, b) => a.firstOffset - b.firstOffset);
  const open = new Set<string>();
  let at = 0;
  return messages.filter((message) => {
    const offset = Number(message.offset);
    for (let next = waiting[at]; next !== undefined && next.firstOffset <= offset; ) {
      open.add(next.producerId);
      at += 1;
      next = waiting[at];
    }
    const { producerId, inTransaction } = message.batchContext;
    if (!message.isControlRecord) return !(inTransaction && open.has(producerId));
    if (message.key?.readInt16BE(TYPE_AT) === ABORT) open.delete(producerId);
    return true;
  });
}
