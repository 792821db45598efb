import type { Kafka } from "kafkajs";
import { loadKafkajs } from "../patches/load-kafkajs.ts";

/** The topics that a consumer group has positions of, or that its members subscribe to. */
export async function findTopicsOfGroup(kafka: Kafka, groupId: string): Promise<readonly string[]> {
  const { MemberMetadata } = loadKafkajs().AssignerProtocol;
  const admin = kafka.admin();
  try {
    await admin.connect();
    const { groups } = await admin.describeGroups([groupId]);
    const subscribed = groups
      .flatMap(({ members }) => members)
      .flatMap(({ memberMetadata }) => MemberMetadata.decode(memberMetadata)?.topics ?? []);
    const offsets = await admin.fetchOffsets({ groupId });
    return [...new Set([...subscribed, ...offsets.map(({ topic }) => topic)])].sort();
  } finally {
    await admin.disconnect();
  }
}
