"""The records of an executor, as docs/schemas.md describes them: reads calls, writes results."""

import hashlib
import io
import json
import os
import pathlib
import uuid

import fastavro
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from fastavro.schema import fingerprint, to_parsing_canonical_form

ENV = os.environ
PREFIX = ENV.get("CALLGATE_KAFKA_TOPIC_PREFIX", "toolcalls")
ALLOWED, RESULTS = f"{PREFIX}.allowed.v1", f"{PREFIX}.results.v1"
SCHEMAS = pathlib.Path(ENV.get("CALLGATE_SCHEMAS", pathlib.Path(__file__).parents[2] / "schemas"))
EXECUTOR_ID = str(uuid.uuid4())  # of this process
OUTPUT_BYTES_MAX = 65_536


def create_codec():
    """Two functions: one decodes allowed calls and results, one encodes results."""
    schema = json.loads((SCHEMAS / "result.avsc").read_text())
    if "CALLGATE_REGISTRY_URL" in ENV:
        registry = SchemaRegistryClient({"url": ENV["CALLGATE_REGISTRY_URL"]})
        read = AvroDeserializer(registry)
        text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False)  # as it was registered
        write = AvroSerializer(registry, text, conf={"auto.register.schemas": False})
        context = SerializationContext(RESULTS, MessageField.VALUE)
        return lambda value: read(value, None), lambda result: write(result, context)

    def prefix_of(schema):
        canonical = to_parsing_canonical_form(schema)
        return b"\xc3\x01" + bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO"))

    paths = [*SCHEMAS.rglob("allowed-call.avsc"), *SCHEMAS.rglob("result.avsc")]
    known = {prefix_of(each): each for each in (json.loads(path.read_text()) for path in paths)}
    prefix = prefix_of(schema)

    def encode(result):
        body = io.BytesIO(prefix)
        body.seek(len(prefix))
        fastavro.schemaless_writer(body, schema, result)
        return body.getvalue()

    return lambda value: fastavro.schemaless_reader(io.BytesIO(value[10:]), known[value[:10]], None), encode


decode_any, encode = create_codec()


def decode(value):
    """None: nobody can read the record, so it is skipped."""
    try:
        return decode_any(value)
    except Exception as error:
        print(f"a record cannot be read: {error!r}", flush=True)


def result_record(call, status, error=None, **fields):
    ids = {name: call[name] for name in ("tenantId", "conversationId", "decisionId")}
    if error is not None:
        fields["error"] = {"code": None, "message": str(error)[:4096], "retryable": None}
    value = encode({**ids, "callId": call["call"]["callId"], "status": status, "executorId": EXECUTOR_ID, **fields})
    return {"key": f"{call['tenantId']}/{call['conversationId']}", "value": value}


def output_fields(output):
    """The output as text, cut where it is long; its digest tells two long outputs apart."""
    text = json.dumps(output, ensure_ascii=False).encode()
    cut = text[:OUTPUT_BYTES_MAX].decode(errors="ignore")
    digest = hashlib.sha256(text).hexdigest() if len(text) > OUTPUT_BYTES_MAX else None
    return {"basis": "returned", "output": cut, "outputDigest": digest, "outputBytes": len(text)}
