"""Runs allowed calls with the functions of handlers.py, and reports how they end.

It keeps the rules of docs/executor-protocol.md, and `callgate conformance executor` tests it. An error
that it does not understand ends the process; whoever starts it again makes it take over from itself.
"""

import json
import os
import queue
import signal
import threading
import time
import traceback
from concurrent.futures import Future, wait

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

from handlers import HANDLERS, NoEffect
from records import ALLOWED, ENV, RESULTS, decode, output_fields, result_record

GROUP = ENV.get("CALLGATE_EXECUTOR_GROUP", "callgate-executor")
FENCE = f"{ENV.get('CALLGATE_KAFKA_APP', 'callgate')}.{GROUP}"
SESSION_MS = int(ENV.get("CALLGATE_KAFKA_SESSION_TIMEOUT_MS", "6000"))
LOOK_BACK_MS = 25 * 3_600_000  # calls are begun within a day; one hour for clocks that differ
END_WITHIN_S = 8
KAFKA = {"bootstrap.servers": ENV["CALLGATE_KAFKA_BROKERS"], "client.id": "python-executor"}
READ = {**KAFKA, "group.id": GROUP, "enable.auto.commit": False, "isolation.level": "read_committed"}
in_hand = set()  # decision ids of the calls that this process has begun and not reported
owners = {}  # by partition


reports = Producer({**KAFKA, "enable.idempotence": True, "message.timeout.ms": 0, "linger.ms": 0})


def end(error, _message=None):
    if error is not None:
        print(f"cannot go on: {error}", flush=True)
        os._exit(3)


def now_ms():
    return int(time.time() * 1000)


def starts(consumer, topic, partitions):
    """Where to begin to read what was appended within the last day."""
    since = [TopicPartition(topic, partition, now_ms() - LOOK_BACK_MS) for partition in partitions]
    found = consumer.offsets_for_times(since, timeout=30)
    return [TopicPartition(topic, at.partition, at.offset if at.offset >= 0 else OFFSET_BEGINNING) for at in found]


class Owner(threading.Thread):
    """Owns a partition until it is revoked: takes it over, then runs its calls one after the other."""

    def __init__(self, partition):
        super().__init__(daemon=True)
        self.partition, self.records, self.is_revoked = partition, queue.SimpleQueue(), False

    def revoke(self):
        self.is_revoked = True
        self.records.put(None)

    def run(self):
        try:
            fence = {"transactional.id": f"{FENCE}.{self.partition}", "transaction.timeout.ms": 10_000}
            self.claims = Producer({**KAFKA, **fence})
            self.claims.init_transactions()  # fences the owner before, and aborts its open claim
            self.read_results()
            while (value := self.records.get()) is not None and not self.is_revoked:
                self.take(decode(value))
        except Exception:
            if not self.is_revoked:  # else the next owner has fenced this one
                traceback.print_exc()
                end("a partition is lost")

    def read_results(self):
        """Also behind a transaction of another group that is open now: its end is awaited."""
        self.reported, self.started = {}, set()
        whole = Consumer({**READ, "isolation.level": "read_uncommitted"})
        until = whole.get_watermark_offsets(TopicPartition(RESULTS, self.partition), timeout=30)[1]
        reader = Consumer({**READ, "enable.partition.eof": True})
        reader.assign(starts(whole, RESULTS, [self.partition]))
        whole.close()
        while (record := reader.poll(60)) is None or record.error() is None or record.offset() < until:
            if record is not None and record.error() is None and (result := decode(record.value())):
                self.reported[result["decisionId"]] = now_ms()
                note = self.started.add if result["status"] == "started" else self.started.discard
                note(result["decisionId"])
            elif record is not None and record.error() and record.error().code() != KafkaError._PARTITION_EOF:
                raise RuntimeError(record.error())
        reader.close()

    def take(self, call):
        decision_id = call and call["decisionId"]
        if call is None or call["call"]["tool"] not in HANDLERS or decision_id in in_hand:
            return
        if decision_id in self.started:
            self.started.discard(decision_id)
            return self.report(call, "unknown", "the executor that started it is gone")
        not_after_ms = call["notAfterMs"].timestamp() * 1000
        if decision_id in self.reported or now_ms() > not_after_ms:
            return
        in_hand.add(decision_id)
        self.claim(call)
        if now_ms() > not_after_ms:
            self.report(call, "not_executed", "not started in time")
        else:
            self.execute(call)
        in_hand.discard(decision_id)

    def claim(self, call):
        """Any error, also one that leaves the outcome open, ends the process: the call is not run."""
        while self.reported and next(iter(self.reported.values())) < now_ms() - LOOK_BACK_MS:
            del self.reported[next(iter(self.reported))]
        self.reported[call["decisionId"]] = now_ms()
        self.claims.begin_transaction()
        self.claims.produce(RESULTS, partition=self.partition, **result_record(call, "started"))
        self.claims.commit_transaction()

    def execute(self, call):
        future = Future()
        threading.Thread(target=settle, args=(future, call), daemon=True).start()
        if wait([future], timeout=call["timeLimitMs"] / 1000).done:
            return self.report_end(call, future)
        self.report(call, "unknown", "it ran longer than its time limit")
        future.add_done_callback(lambda late: late.exception() or self.report_end(call, late))

    def report_end(self, call, future):
        error = future.exception()
        if error is not None:
            effect = "none" if isinstance(error, NoEffect) else "possible"
            return self.report(call, "failed", error, effect=effect)
        self.report(call, "succeeded", **output_fields(future.result()))

    def report(self, call, *args, **fields):
        """Sends the result until the brokers have it."""
        reports.produce(RESULTS, partition=self.partition, on_delivery=end, **result_record(call, *args, **fields))
        reports.flush()


def settle(future, call):
    """Runs the handler, with the idempotency key at the path in the arguments that the record names."""
    try:
        arguments = at = json.loads(call["arguments"]["text"])
        *path, last = (call["idempotencyArgument"] or "").split(".")
        for name in path:
            at = at.setdefault(name, {}) if isinstance(at, dict) else None
        if last and isinstance(at, dict):
            at[last] = call["idempotencyKey"]
        future.set_result(HANDLERS[call["call"]["tool"]](arguments, call))
    except Exception as error:
        future.set_exception(error)


def assigned(consumer, partitions):
    for at in partitions:
        owners[at.partition] = Owner(at.partition)
        owners[at.partition].start()
    consumer.incremental_assign(starts(consumer, ALLOWED, [at.partition for at in partitions]))


def revoked(consumer, partitions):
    for at in partitions:
        owners.pop(at.partition).revoke()
    consumer.incremental_unassign(partitions)


def main():
    ends = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ends.set())
    group = {"partition.assignment.strategy": "cooperative-sticky", "session.timeout.ms": SESSION_MS}
    consumer = Consumer({**READ, **group, "heartbeat.interval.ms": SESSION_MS // 5})
    consumer.subscribe([ALLOWED], on_assign=assigned, on_revoke=revoked)
    while not ends.is_set():
        record = consumer.poll(0.2)
        if record is not None and record.error() is None:
            owners[record.partition()].records.put(record.value())
        elif record is not None and record.error().fatal():
            end(record.error())
    last, until_s = list(owners.values()), time.monotonic() + END_WITHIN_S
    for owner in last:
        owner.revoke()
    for owner in last:
        owner.join(max(0, until_s - time.monotonic()))
    consumer.close()


if __name__ == "__main__":
    main()
