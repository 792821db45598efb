/**
 * What keeps the gate right on a real cluster, each by its name; the numbers are those of the rules in
 * docs/kafka.md. All are on; a fault test switches one off at a time to show that its checker would
 * notice. Nothing else may. The order of a take-over (K2) is `endAfterFence` of the runtime.
 */
export type KafkaSafeguards = {
  /** K1: the transactional id is that of the partition number. Off: of the process. */
  readonly idOfNumber: boolean;
  /** K4: after an uncertain outcome the producer is thrown away. Off: it is used on. */
  readonly freshProducer: boolean;
  /** K5: who was fenced takes over again only if the group says that the number is still ours. */
  readonly askGroup: boolean;
  /** K6: one send is in flight. Off: one for each topic, side by side. */
  readonly oneSend: boolean;
  /** K7: a record that was not acknowledged is an error. */
  readonly acknowledged: boolean;
  /** W4: who finds records of others in its journal stops. Off: it goes on beside them. */
  readonly soleWriter: boolean;
  /** K17: partition numbers are assigned. Off: partitions, round robin, and parts of a number are run. */
  readonly assignNumbers: boolean;
};

export const ALL_KAFKA_SAFEGUARDS: KafkaSafeguards = {
  idOfNumber: true,
  freshProducer: true,
  askGroup: true,
  oneSend: true,
  acknowledged: true,
  soleWriter: true,
  assignNumbers: true,
};
