"""Workers over HTTP: calls that others proposed, leases, stops, and what is left after a kill."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from callgate import (
    AllowedDecision,
    AsyncCallgate,
    Callgate,
    CallgateError,
    HandlerCall,
    StoredResult,
    current_call,
    no_effect,
)
from gate_server import GateServer

PROGRAM = Path(__file__).parent / "worker_program.py"
SOURCE = Path(__file__).parents[1] / "src"


@pytest.fixture(scope="module")
def server() -> Iterator[GateServer]:
    """A server of its own: workers would also run calls that other tests have left."""
    server = GateServer().start()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def platform_token(server: GateServer) -> str:
    return server.token(
        "platform", "--role", "propose", "--role", "execute", "--role", "read", "--platform"
    )


@contextmanager
def worker(gate: Callgate, tools: dict[str, Any], **options: Any) -> Iterator[None]:
    """A worker in a thread, for the time of the block."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def serve() -> None:
        try:
            gate.serve_tools(tools, stop=stop, **{"wait": 0.2, "shutdown_seconds": 10, **options})
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    assert failures == []


def propose(gate: Callgate, tool: str, arguments: object, **names: Any) -> AllowedDecision:
    decision = gate.propose(tool, arguments, **names)
    assert decision.outcome == "allowed"
    return decision


def ended(gate: Callgate, decision: AllowedDecision) -> StoredResult:
    result = gate.result(decision.decision_id, timeout=20)
    assert result is not None
    return result


def test_a_worker_runs_calls_and_reports_how_they_ended(gate: Callgate) -> None:
    keys: list[str] = []

    def save(call: HandlerCall, name: str) -> dict[str, str]:
        assert current_call() is call
        keys.append(call.idempotency_key)
        if name == "none":
            raise no_effect("declined")
        if name == "possible":
            raise ConnectionError("broke")
        return {"saved": name}

    with worker(gate, {"save": save}):
        decisions = [propose(gate, "save", {"name": one}) for one in ("a", "none", "possible")]
        results = [ended(gate, one) for one in decisions]
    assert [(one.status, one.effect) for one in results] == [
        ("succeeded", None),
        ("failed", "none"),
        ("failed", "possible"),
    ]
    assert results[0].output == {"saved": "a"}
    assert keys == [one.idempotency_key for one in decisions]


def test_calls_run_beside_each_other_up_to_the_maximum(gate: Callgate, conversation: str) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def get_text(name: str) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.2)
        with lock:
            now -= 1
        return name

    with worker(gate, {"get_text": get_text}, max_calls=3):
        decisions = [propose(gate, "get_text", {"name": str(one)}) for one in range(6)]
        assert {ended(gate, one).status for one in decisions} == {"succeeded"}
    assert 1 < most <= 3


def test_writes_of_a_conversation_run_in_their_order(gate: Callgate) -> None:
    runs: list[str] = []

    def save(name: str) -> None:
        runs.append(f"begin {name}")
        time.sleep(0.1)
        runs.append(f"end {name}")

    decisions = [propose(gate, "save", {"name": one}) for one in "abc"]
    with worker(gate, {"save": save}):
        assert {ended(gate, one).status for one in decisions} == {"succeeded"}
    assert runs == [f"{what} {one}" for one in "abc" for what in ("begin", "end")]


def test_a_call_over_its_time_is_unknown_and_a_late_success_settles(gate: Callgate) -> None:
    go_on = threading.Event()

    def slow(call: HandlerCall, name: str) -> str:
        assert call.cancelled.wait(30)
        assert go_on.wait(30)
        return "late"

    with worker(gate, {"slow": slow}):
        decision = propose(gate, "slow", {"name": "a"})
        assert ended(gate, decision).status == "unknown"
        go_on.set()
        while ended(gate, decision).status != "succeeded":
            time.sleep(0.05)


def test_a_lease_is_renewed_while_a_call_runs(gate: Callgate) -> None:
    def save(name: str) -> str:
        time.sleep(2.5)
        return name

    with worker(gate, {"save": save}, lease_seconds=1):
        assert ended(gate, propose(gate, "save", {"name": "a"})).status == "succeeded"


async def test_asynchronous_functions_run_in_their_loop(
    gate: Callgate, async_gate: AsyncCallgate, conversation: str
) -> None:
    loop, threads = asyncio.get_running_loop(), []

    async def save(name: str) -> str:
        assert asyncio.get_running_loop() is loop
        await asyncio.sleep(0)
        return name

    def get_text(name: str) -> Iterator[str]:
        threads.append(threading.get_ident())
        yield "first"
        yield name

    stop = threading.Event()
    serving = asyncio.create_task(
        async_gate.serve_tools({"save": save, "get_text": get_text}, stop=stop, wait=0.2)
    )
    with async_gate.conversation(conversation):
        for tool in ("save", "get_text"):
            decision = await async_gate.propose(tool, {"name": "a"})
            assert decision.decision_id is not None
            result = await async_gate.result(decision.decision_id, timeout=20)
            assert result is not None and (result.status, result.output) == ("succeeded", "a")
    assert threads != [threading.get_ident()]
    stop.set()
    await serving


def test_a_stop_ends_what_runs_or_reports_it_as_unknown(gate: Callgate) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def save(name: str) -> str:
        begun.set()
        assert go_on.wait(60)
        return name

    with worker(gate, {"save": save}, shutdown_seconds=0.1):
        decision = propose(gate, "save", {"name": "a"})
        assert begun.wait(30)
    assert ended(gate, decision).status == "unknown"
    go_on.set()


def test_a_worker_without_the_role_is_an_error(server: GateServer) -> None:
    with Callgate(server.url) as gate, pytest.raises(CallgateError) as caught:
        gate.serve_tools({"save": print}, wait=0)
    assert caught.value.status in (401, 403)


@pytest.mark.parametrize("options", [{"max_calls": 0}, {"lease_seconds": 0}, {"wait": -1}])
def test_options_are_checked(gate: Callgate, options: dict[str, Any]) -> None:
    with pytest.raises(CallgateError, match="invalid_input"):
        gate.serve_tools({"save": print}, **options)
    with pytest.raises(CallgateError, match="no tools"):
        gate.serve_tools({})


class WorkerProcess:
    def __init__(self, url: str, token: str, file: Path) -> None:
        self._file = file
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        self._process = subprocess.Popen([sys.executable, PROGRAM, url, token, file], env=env)

    def effects(self) -> list[str]:
        return self._file.read_text().splitlines() if self._file.exists() else []

    def wait_for(self, beginning: str) -> None:
        while not any(one.startswith(beginning) for one in self.effects()):
            assert self._process.poll() is None, self.effects()
            time.sleep(0.02)

    def end(self, number: signal.Signals) -> int:
        self._process.send_signal(number)
        return self._process.wait(timeout=20)


def test_a_killed_worker_leaves_an_unknown_call_that_nobody_runs_again(
    server: GateServer, platform_token: str, gate: Callgate, tmp_path: Path
) -> None:
    file = tmp_path / "effects"
    first = WorkerProcess(server.url, platform_token, file)
    decision = propose(gate, "save", {"name": "endless"})
    first.wait_for("begin endless")
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    second = WorkerProcess(server.url, platform_token, file)
    assert ended(gate, decision).status == "unknown"
    assert ended(gate, propose(gate, "save", {"name": "next"})).status == "succeeded"
    assert second.end(signal.SIGTERM) == 0
    assert [one.split()[:2] for one in second.effects() if one.startswith("begin")] == [
        ["begin", "endless"],
        ["begin", "next"],
    ]


def test_a_terminated_worker_ends_its_call_and_begins_no_other(
    server: GateServer, platform_token: str, gate: Callgate, tmp_path: Path
) -> None:
    process = WorkerProcess(server.url, platform_token, tmp_path / "effects")
    decision = propose(gate, "save", {"name": "long"})
    later = propose(gate, "save", {"name": "later"})
    process.wait_for("begin long")
    assert process.end(signal.SIGTERM) == 0
    assert ended(gate, decision).status == "succeeded"
    assert process.effects()[-2:] == ["end long", "stopped"]
    assert gate.result(later.decision_id) is None
    again = WorkerProcess(server.url, platform_token, tmp_path / "effects")
    assert ended(gate, later).status == "succeeded"
    assert again.end(signal.SIGTERM) == 0
