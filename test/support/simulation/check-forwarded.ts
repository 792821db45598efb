// Judges by the topics whether each forwarded input stands once on the partition that its record names.
import { FORWARDED_HEADER } from "../../../services/runtime/forward-input.ts";
import type { Codec, LogRecord } from "../../../services/runtime/ports.ts";
import { INPUT_TOPICS, type InputTopic } from "../../../services/runtime/topics.ts";

/** All problems; empty where every forwarded input went to its partition once and in order. */
export function checkForwarded(
  journal: readonly { readonly value: Uint8Array | null }[],
  codec: Pick<Codec, "decodeJournal">,
  read: (topic: InputTopic, partition: number) => readonly LogRecord[],
): readonly string[] {
  const due = new Map<string, string[]>();
  const targets = new Set<number>();
  for (const { value } of journal) {
    const { input } = codec.decodeJournal(value ?? new Uint8Array());
    if (input.type !== "forwarded") continue;
    const { topic, partition, offset } = input.at;
    const target = `${topic}/${input.partition}`;
    due.set(target, [...(due.get(target) ?? []), `${topic}/${partition}/${offset}`]);
    targets.add(input.partition);
  }
  const problems: string[] = [];
  for (const partition of targets) {
    for (const topic of INPUT_TOPICS) {
      const from = read(topic, partition).flatMap(({ headers }) =>
        headers.filter(({ name }) => name === FORWARDED_HEADER).map(({ value }) => value),
      );
      const wanted = due.get(`${topic}/${partition}`) ?? [];
      if (from.join() !== wanted.join()) {
        problems.push(
          `${topic} ${partition}: forwarded ${from.join()} instead of ${wanted.join()}`,
        );
      }
    }
  }
  return problems;
}
