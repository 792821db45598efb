"""Writes proposals as JSON, as a platform in Python does: produce.py OPTIONS, a JSON object."""

import json
import sys

from confluent_kafka import Producer

options = json.loads(sys.argv[1])
producer = Producer({"bootstrap.servers": options["brokers"], **options.get("settings", {})})
failures = []


def note_failure(error, _message):
    if error is not None:
        failures.append(str(error))


for number in range(options["from"], options["from"] + options["count"]):
    proposal = {
        "tenantId": "t",
        "conversationId": f"conversation-{number % 20}",
        "callId": f"call-{number}",
        "turn": 1,
        "step": number,
        "tool": "pay",
        "arguments": {"order": str(number), "amount": 1, "note": "the same words again and again " * 20},
    }
    producer.produce(
        options["topic"],
        key=f"t/{proposal['conversationId']}",
        value=json.dumps(proposal),
        on_delivery=note_failure,
    )
    producer.poll(0)
if producer.flush(30) > 0:
    failures.append("records were left")
if failures:
    sys.exit(f"{len(failures)} records failed: {failures[0]}")
