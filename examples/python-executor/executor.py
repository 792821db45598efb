"""Runs allowed calls with the functions of handlers.py, and reports how they end.

It keeps the rules of docs/executor-protocol.md; `callgate conformance executor` tests that. An error that
it does not understand ends the process: whoever starts it again makes it take over from itself. For a schema
registry, let AvroDeserializer and AvroSerializer of confluent-kafka stand in `decode` and `result_record`.
"""

import hashlib
import io
import json
import os
import pathlib
import signal
import threading
import time
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor, wait

import fastavro
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from fastavro.schema import fingerprint, to_parsing_canonical_form

from handlers import HANDLERS, NoEffect

ENV = os.environ
if "CALLGATE_REGISTRY_URL" in ENV:  # a start that cannot be read would be overlooked, and run again
    raise SystemExit("this example reads no records of a schema registry: its first lines say what to change")
PREFIX = ENV.get("CALLGATE_KAFKA_TOPIC_PREFIX", "toolcalls")
ALLOWED, RESULTS = f"{PREFIX}.allowed.v1", f"{PREFIX}.results.v1"
APP = ENV.get("CALLGATE_KAFKA_APP", "callgate" if PREFIX == "toolcalls" else f"callgate-{PREFIX}")
GROUP = ENV.get("CALLGATE_EXECUTOR_GROUP", f"{APP}-executor")
SESSION_MS = int(ENV.get("CALLGATE_KAFKA_SESSION_TIMEOUT_MS", "6000"))
SCHEMAS = pathlib.Path(ENV.get("CALLGATE_SCHEMAS", pathlib.Path(__file__).parents[2] / "schemas"))
EXECUTOR_ID = str(uuid.uuid4())  # of this process
LOOK_BACK_MS = 25 * 3_600_000  # calls are begun within a day; one hour for clocks that differ
END_WITHIN_S = 8
OUTPUT_BYTES_MAX = 65_536
BROKERS = {"bootstrap.servers": ENV["CALLGATE_KAFKA_BROKERS"]}
READ = {**BROKERS, "group.id": GROUP, "enable.auto.commit": False}
WRITE = {**BROKERS, "enable.idempotence": True, "linger.ms": 0}

reports = Producer({**WRITE, "message.timeout.ms": 0})  # 0: it retries for ever
threads = ThreadPoolExecutor(max_workers=256)
running = set()  # decision ids of the calls that this process has claimed and not reported
owners = {}  # by partition
stopping = threading.Event()


def load_schema(path):
    """Returns the first ten bytes of the records that are written with the schema, and the schema."""
    schema = json.loads(path.read_text())
    crc = fingerprint(to_parsing_canonical_form(schema), "CRC-64-AVRO")
    return b"\xc3\x01" + bytes.fromhex(crc), fastavro.parse_schema(schema)


RESULT_PREFIX, RESULT = load_schema(SCHEMAS / "result.avsc")
schemas = dict(map(load_schema, SCHEMAS.rglob("*.avsc")))  # also those of earlier releases


def decode(value):
    """None: nobody can read the record, so it is skipped."""
    try:
        return fastavro.schemaless_reader(io.BytesIO(value[10:]), schemas[value[:10]], None)
    except Exception as error:
        print(f"a record cannot be read: {error!r}", flush=True)


def result_record(call, status, error=None, **fields):
    result = {name: call[name] for name in ("tenantId", "conversationId", "decisionId")} | fields
    result |= {"callId": call["call"]["callId"], "status": status, "executorId": EXECUTOR_ID}
    if error is not None:
        result["error"] = {"code": None, "message": str(error)[:4096], "retryable": None}
    body = io.BytesIO()
    fastavro.schemaless_writer(body, RESULT, result)
    key = f"{call['tenantId']}/{call['conversationId']}"
    return {"topic": RESULTS, "key": key, "value": RESULT_PREFIX + body.getvalue()}


def read(topic, partition):
    """Yields each committed record from a day back on, and None with the offset where they end for now."""
    reader = Consumer({**READ, "isolation.level": "read_committed", "enable.partition.eof": True})
    [at] = reader.offsets_for_times([TopicPartition(topic, partition, now_ms() - LOOK_BACK_MS)], timeout=30)
    at.offset = at.offset if at.offset >= 0 else OFFSET_BEGINNING
    reader.assign([at])
    while True:
        message = reader.poll(0.5)
        error = message and message.error()
        if not error:
            yield message and decode(message.value()), -1
        elif error.code() == KafkaError._PARTITION_EOF:
            yield None, message.offset()
        else:
            raise RuntimeError(error)


class Owner(threading.Thread):
    """Owns a partition until it is revoked: takes it over, then runs its calls one after the other."""

    def __init__(self, partition):
        super().__init__(daemon=True)
        self.partition, self.is_revoked = partition, False
        self.known, self.open = {}, set()  # calls with any result, and those that a gone owner started

    def run(self):
        try:
            self.take_over()
            for call, _ in read(ALLOWED, self.partition):
                if self.is_revoked or stopping.is_set():
                    return
                if call is not None and call["call"]["tool"] in HANDLERS:
                    self.take(call)
        except Exception:
            if not self.is_revoked:  # else the next owner has fenced this one
                end(traceback.format_exc())

    def take_over(self):
        """Fences the owner before, and reads its results, also behind a transaction that is open now."""
        self.claims = Producer({**WRITE, "transactional.id": f"{APP}.{GROUP}.{self.partition}"})
        self.claims.init_transactions()
        still_running = set(running)
        whole = Consumer({**READ, "isolation.level": "read_uncommitted"})
        _, until = whole.get_watermark_offsets(TopicPartition(RESULTS, self.partition), timeout=30)
        for result, end_offset in read(RESULTS, self.partition):
            if result is not None:
                self.known[result["decisionId"]] = now_ms()
                note = self.open.add if result["status"] == "started" else self.open.discard
                note(result["decisionId"])
            elif end_offset >= until:
                break
        self.open -= still_running

    def take(self, call):
        decision_id, not_after_ms = call["decisionId"], call["notAfterMs"].timestamp() * 1000
        if decision_id in self.open:
            self.open.discard(decision_id)
            self.report(call, "unknown", "the executor that started it is gone")
        elif decision_id not in self.known and now_ms() <= not_after_ms:
            self.claim(call)
            running.add(decision_id)
            if now_ms() <= not_after_ms:
                self.execute(call)
            else:
                self.report(call, "not_executed", "not started in time")
            running.discard(decision_id)

    def claim(self, call):
        """After an error, also one that leaves open whether it is written, the call does not run."""
        while self.known and next(iter(self.known.values())) < now_ms() - LOOK_BACK_MS:
            del self.known[next(iter(self.known))]
        self.known[call["decisionId"]] = now_ms()
        self.claims.begin_transaction()
        self.claims.produce(partition=self.partition, **result_record(call, "started"))
        self.claims.commit_transaction()

    def execute(self, call):
        future = threads.submit(run_handler, call)
        if wait([future], timeout=call["timeLimitMs"] / 1000).done:
            return self.report(call, **future.result())
        self.report(call, "unknown", "it ran longer than its time limit")
        future.add_done_callback(lambda late: self.report_late(call, **late.result()))

    def report_late(self, call, status, **fields):
        """A success settles the call; a failure after its time limit says nothing new."""
        if status == "succeeded":
            self.report(call, status, **fields)

    def report(self, *args, **fields):
        """Returns when the brokers have the result."""
        reports.produce(partition=self.partition, on_delivery=end, **result_record(*args, **fields))
        reports.flush()


def run_handler(call):
    """Puts the idempotency key where the record says. Returns how the call ended; cuts a long output."""
    arguments = at = json.loads(call["arguments"]["text"])
    *path, last = (call["idempotencyArgument"] or "").split(".")
    for name in path:
        at = at.setdefault(name, {}) if isinstance(at, dict) else None
    if last and isinstance(at, dict):
        at[last] = call["idempotencyKey"]
    try:
        text = json.dumps(HANDLERS[call["call"]["tool"]](arguments, call), ensure_ascii=False).encode()
    except Exception as error:
        effect = "none" if isinstance(error, NoEffect) else "possible"
        return {"status": "failed", "error": error, "effect": effect}
    output = {"output": text[:OUTPUT_BYTES_MAX].decode(errors="ignore"), "outputBytes": len(text)}
    if len(text) > OUTPUT_BYTES_MAX:  # the digest tells two long outputs apart
        output["outputDigest"] = hashlib.sha256(text).hexdigest()
    return {"status": "succeeded", "basis": "returned", **output}


def now_ms():
    return int(time.time() * 1000)


def end(error, _message=None):
    if error is not None:
        print(f"cannot go on: {error}", flush=True)
        os._exit(3)


def on_assign(consumer, partitions):
    """The group only says who owns what: each owner reads by itself, as fast as it runs calls."""
    consumer.incremental_assign(partitions)
    consumer.pause(partitions)
    for at in partitions:
        owners[at.partition] = Owner(at.partition)
        owners[at.partition].start()


def on_revoke(consumer, partitions):
    for at in partitions:
        owners.pop(at.partition).is_revoked = True
    consumer.incremental_unassign(partitions)


def main():
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    group = {"partition.assignment.strategy": "cooperative-sticky", "session.timeout.ms": SESSION_MS}
    consumer = Consumer({**READ, **group, "heartbeat.interval.ms": SESSION_MS // 5})
    consumer.subscribe([ALLOWED], on_assign=on_assign, on_revoke=on_revoke)
    while not stopping.is_set():
        message = consumer.poll(0.2)
        if message is not None and message.error() and message.error().fatal():
            end(message.error())
    for owner in list(owners.values()):
        owner.join(END_WITHIN_S)
    consumer.close()
    os._exit(0)  # the next owner reports calls that still run as unknown


if __name__ == "__main__":
    main()
