"""Writes proposals with an AvroSerializer at its defaults: produce_avro.py OPTIONS, a JSON object."""

import json
import sys

from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

options = json.loads(sys.argv[1])
registry = SchemaRegistryClient({"url": options["registry"]})
serialize = AvroSerializer(registry, json.dumps(options["schema"]))
context = SerializationContext(options["topic"], MessageField.VALUE)
producer = Producer({"bootstrap.servers": options["brokers"], "partitioner": "murmur2_random"})
for proposal in options["proposals"]:
    key = f"{proposal['tenantId']}/{proposal['conversationId']}"
    producer.produce(options["topic"], key=key, value=serialize(proposal, context))
if producer.flush(30) > 0:
    sys.exit("records were left")
