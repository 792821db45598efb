"""Guarded coroutine functions and asynchronous generators, with both clients."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from callgate import (
    AsyncCallgate,
    Callgate,
    CallgateError,
    Decision,
    HandlerCall,
    is_refused,
    was_answered,
)

Either = Callgate | AsyncCallgate


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, gate: Callgate, async_gate: AsyncCallgate) -> Either:
    """A coroutine function may be guarded by each of the clients."""
    return gate if request.param == "sync" else async_gate


async def stored(gate: Callgate, decision: Decision) -> tuple[str, str | None]:
    assert decision.decision_id is not None
    result = await asyncio.to_thread(gate.result, decision.decision_id, timeout=30)
    assert result is not None
    return result.status, result.effect


def noting(decisions: list[Decision]) -> Callable[[Decision, Any], None]:
    return lambda decision, _: decisions.append(decision)


async def test_a_coroutine_function_runs_or_is_refused(client: Either, conversation: str) -> None:
    @client.guard
    async def charge_card(call: HandlerCall, order_id: str) -> str:
        assert call.idempotency_key
        return order_id

    assert inspect.iscoroutinefunction(charge_card)
    assert list(inspect.signature(charge_card).parameters) == ["order_id"]
    with client.conversation(conversation):
        assert await charge_card("7") == "7"
        assert is_refused(await charge_card("7"))


async def test_reads_run_beside_each_other_and_writes_do_not(client: Either, conversation: str) -> None:
    now, most = 0, [0]

    async def busy(name: str) -> str:
        nonlocal now
        now += 1
        most[0] = max(most[0], now)
        await asyncio.sleep(0.05)
        now -= 1
        return name

    save = client.guard(name="save")(busy)
    with client.conversation(conversation):
        await asyncio.gather(*(save(f"f{one}") for one in range(4)))
        assert most == [1]
        get_text = client.guard(name="get_text")(busy)
        await asyncio.gather(*(get_text(f"f{one}") for one in range(4)))
    assert most[0] > 1


async def test_one_call_of_many_tasks_runs_once(client: Either, conversation: str) -> None:
    runs: list[str] = []

    @client.guard
    async def save(name: str) -> str:
        runs.append(name)
        await asyncio.sleep(0.05)
        return "saved"

    call = save.with_options(call_id="k1", conversation_id=conversation)
    answers = await asyncio.gather(*(call("a") for _ in range(8)))
    assert runs == ["a"] and {one[:5] for one in answers} == {"saved"}
    assert was_answered(await call("a")) is False and len(runs) == 1


async def test_the_time_limit_cancels_and_reports_unknown(
    client: Either, gate: Callgate, conversation: str
) -> None:
    decisions: list[Decision] = []
    cancelled: list[bool] = []

    @client.guard(on_decision=noting(decisions))
    async def slow(call: HandlerCall, name: str) -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.append(call.cancelled.is_set())
            raise
        return name

    with client.conversation(conversation), pytest.raises(CallgateError, match="time_limit"):
        await slow("a")
    await asyncio.sleep(0)
    assert cancelled == [True]
    assert (await stored(gate, decisions[0]))[0] == "unknown"


async def test_a_late_success_settles_the_call(
    client: Either, gate: Callgate, conversation: str
) -> None:
    decisions: list[Decision] = []
    done = asyncio.Event()

    @client.guard(on_decision=noting(decisions))
    async def slow(name: str) -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await done.wait()
        return "late"

    with client.conversation(conversation), pytest.raises(CallgateError, match="time_limit"):
        await slow("a")
    assert (await stored(gate, decisions[0]))[0] == "unknown"
    done.set()
    while (await stored(gate, decisions[0]))[0] != "succeeded":
        await asyncio.sleep(0.02)


async def test_a_cancelled_call_is_unknown(client: Either, gate: Callgate, conversation: str) -> None:
    decisions: list[Decision] = []
    begun = asyncio.Event()

    @client.guard(on_decision=noting(decisions))
    async def save(name: str) -> str:
        begun.set()
        await asyncio.sleep(30)
        return name

    with client.conversation(conversation):
        task = asyncio.create_task(save("a"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (await stored(gate, decisions[0]))[0] == "unknown"


async def test_an_exception_is_raised_and_reported(
    client: Either, gate: Callgate, conversation: str
) -> None:
    decisions: list[Decision] = []

    @client.guard(on_decision=noting(decisions))
    async def save(name: str) -> str:
        raise ValueError("no")

    with client.conversation(conversation), pytest.raises(ValueError, match="no"):
        await save("a")
    assert await stored(gate, decisions[0]) == ("failed", "possible")


async def test_an_asynchronous_generator_runs_while_it_is_read(
    client: Either, gate: Callgate, conversation: str
) -> None:
    decisions: list[Decision] = []
    sent: list[object] = []

    @client.guard(on_decision=noting(decisions))
    async def save(name: str) -> AsyncIterator[str]:
        sent.append((yield "a"))
        yield "b"

    @client.guard(on_decision=noting(decisions))
    async def slow(name: str) -> AsyncIterator[str]:
        yield "a"
        await asyncio.sleep(30)
        yield "b"

    with client.conversation(conversation):
        assert [one async for one in save("x")] == ["a", "b"]
        assert await stored(gate, decisions[0]) == ("succeeded", None)
        [refused] = [one async for one in save("x")]
        assert is_refused(refused)
        stream = save("y")
        assert await anext(stream) == "a"
        await stream.aclose()
        assert (await stored(gate, decisions[2]))[0] == "unknown"
        with pytest.raises(CallgateError, match="time_limit"):
            [one async for one in slow("z")]
        assert (await stored(gate, decisions[3]))[0] == "unknown"


async def test_the_asynchronous_client_runs_plain_functions_in_threads(
    async_gate: AsyncCallgate, gate: Callgate, conversation: str
) -> None:
    decisions: list[Decision] = []
    guard = async_gate.guard(on_decision=noting(decisions))

    @guard
    def save(name: str) -> int:
        return threading.get_ident()

    @guard
    def slow(call: HandlerCall, name: str) -> str:
        call.cancelled.wait(10)
        time.sleep(0.1)
        return "late"

    with async_gate.conversation(conversation):
        assert await save("a") != threading.get_ident()  # type: ignore[misc]
        with pytest.raises(CallgateError, match="time_limit"):
            await slow("a")  # type: ignore[misc]
    while (await stored(gate, decisions[1]))[0] != "succeeded":
        await asyncio.sleep(0.02)
    with pytest.raises(CallgateError, match="plain generator"):

        @async_gate.guard
        def numbers() -> Any:
            yield 1


async def test_both_contexts_of_two_tasks_stay_apart(client: Either) -> None:
    seen: list[str] = []

    @client.guard(on_decision=lambda _, proposal: seen.append(proposal.conversation_id))
    async def get_text(name: str) -> str:
        return name

    async def ask(conversation: str) -> None:
        with client.conversation(conversation):
            await asyncio.sleep(0.01)
            await get_text("a")

    await asyncio.gather(ask("left"), ask("right"))
    assert sorted(seen) == ["left", "right"]
