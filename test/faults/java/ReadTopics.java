import java.io.BufferedWriter;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Everything that is committed in some topics, read with Kafka's own client: one JSON line a record, then one
 * line a partition with its end. What this reads owes nothing to the code under test.
 *
 * <p>The ends are taken in the order of the topics, all within a moment: what a topic says of a later one is
 * there, and while producers go on the topics are of one time but for what was under way.
 *
 * <p>Arguments: bootstrap servers, seconds, topics. Ends with 4 when the time is over before the ends.
 */
public final class ReadTopics {
  private static final Base64.Encoder BASE64 = Base64.getEncoder();
  private static final long MOMENT_NANOS = 250_000_000L;
  private static final int TRIES_MAX = 40;

  public static void main(String[] args) throws Exception {
    long deadline = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties(args[0]));
        BufferedWriter out =
            new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 20)) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (int at = 2; at < args.length; at += 1) {
        for (PartitionInfo info : consumer.partitionsFor(args[at])) {
          partitions.add(new TopicPartition(info.topic(), info.partition()));
        }
      }
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = endsAtOnce(consumer, partitions);
      Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
      while (!reached(consumer, ends)) {
        if (System.nanoTime() > deadline) {
          System.err.println("the time is over before the ends were reached");
          System.exit(4);
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
          TopicPartition partition = new TopicPartition(record.topic(), record.partition());
          if (record.offset() < ends.get(partition)) out.write(line(record));
        }
      }
      for (TopicPartition partition : partitions) {
        out.write(
            "{\"end\":\"" + partition.topic() + "\",\"p\":" + partition.partition()
                + ",\"start\":" + starts.get(partition) + ",\"o\":" + ends.get(partition) + "}\n");
      }
    }
  }

  /**
   * Asked again where a broker was slow to answer. Under read_committed these are the last stable offsets:
   * what lies beyond may still be aborted.
   */
  private static Map<TopicPartition, Long> endsAtOnce(
      KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
    Map<String, List<TopicPartition>> byTopic = new LinkedHashMap<>();
    for (TopicPartition partition : partitions) {
      byTopic.computeIfAbsent(partition.topic(), (topic) -> new ArrayList<>()).add(partition);
    }
    Map<TopicPartition, Long> ends = new HashMap<>();
    for (int tries = 0; tries < TRIES_MAX; tries += 1) {
      long begun = System.nanoTime();
      for (List<TopicPartition> some : byTopic.values()) ends.putAll(consumer.endOffsets(some));
      // Connections are made in the first round.
      if (tries > 0 && System.nanoTime() - begun < MOMENT_NANOS) break;
    }
    return ends;
  }

  private static boolean reached(
      KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
    for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
      if (consumer.position(end.getKey()) < end.getValue()) return false;
    }
    return true;
  }

  private static String line(ConsumerRecord<byte[], byte[]> record) {
    return "{\"t\":\"" + record.topic() + "\",\"p\":" + record.partition()
        + ",\"o\":" + record.offset() + ",\"ts\":" + record.timestamp()
        + ",\"tt\":\"" + record.timestampType().name
        + "\",\"k\":" + quoted(record.key()) + ",\"v\":" + quoted(record.value()) + "}\n";
  }

  private static String quoted(byte[] bytes) {
    return bytes == null ? "null" : "\"" + BASE64.encodeToString(bytes) + "\"";
  }

  private static Properties properties(String bootstrap) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", bootstrap);
    properties.put("isolation.level", "read_committed");
    properties.put("enable.auto.commit", "false");
    properties.put("auto.offset.reset", "none");
    properties.put("max.poll.records", "5000");
    properties.put("fetch.max.bytes", "67108864");
    properties.put("max.partition.fetch.bytes", "16777216");
    properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
    properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
    return properties;
  }
}
