"""The feed of events: from the start, behind an event, and over the end of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from callgate import AsyncCallgate, Callgate, CallgateError, GateEvent
from gate_server import GateServer


def test_the_feed_begins_where_it_is_asked_to(gate: Callgate, conversation: str) -> None:
    gate.propose("save", {"name": "a"}, call_id="k1")
    gate.propose("delete_customer", {"customer_id": "a"}, call_id="k2")
    events = gate.events(from_start=True, conversation_id=conversation)
    first = next(events)
    assert (first.type, first.data["callId"], first.data["tool"]) == ("allowed", "k1", "save")
    held = next(gate.events(after=first.id, conversation_id=conversation))
    assert (held.type, held.data["callId"]) == ("held", "k2")
    only = next(gate.events(from_start=True, types=["held"], conversation_id=conversation))
    assert only == held


def test_the_feed_goes_on_when_the_server_is_back(conversation: str) -> None:
    server = GateServer().start()
    try:
        with Callgate(server.url, retries=20) as gate, gate.conversation(conversation):
            gate.propose("save", {"name": "a"})
            events: Iterator[GateEvent] = gate.events(from_start=True)
            assert next(events).data["tool"] == "save"
            port = server.port
            server.kill()
            server.start(port)
            gate.propose("count", {"size": 1})
            assert next(events).data["tool"] == "count"
    finally:
        server.remove()


async def test_the_asynchronous_client_follows_the_feed(
    async_gate: AsyncCallgate, conversation: str
) -> None:
    async def next_event() -> GateEvent:
        async for event in async_gate.events(from_start=True, conversation_id=conversation):
            return event
        raise AssertionError("the feed has ended")

    waiting = asyncio.create_task(next_event())
    await async_gate.propose("save", {"name": "a"}, conversation_id=conversation)
    assert (await waiting).type == "allowed"


def test_a_feed_that_is_refused_is_an_error(gate: Callgate) -> None:
    with pytest.raises(CallgateError) as caught:
        next(gate.events(after="nonsense"))
    assert caught.value.status == 400
