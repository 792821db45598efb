"""The feed of what the gate decides: server-sent events, resumed where a connection broke."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from .errors import CallgateError
from .http_answer import CHECK_URL, DELAY_MAX, FIRST_DELAY, problem_of, says_nothing

PATH = "/v1/events"
IDLE_MAX = 90.0
"""Seconds without even a heartbeat after which the connection counts as broken."""


@dataclass(frozen=True)
class EventFilter:
    after: str | None
    from_start: bool
    types: tuple[str, ...]
    conversation_id: str | None
    tenant_id: str | None

    def query(self) -> dict[str, str]:
        members = {
            "from": "start" if self.from_start else None,
            "type": ",".join(self.types) or None,
            "conversationId": self.conversation_id,
            "tenantId": self.tenant_id,
        }
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True)
class GateEvent:
    id: str
    """Its position in the journal: pass it as `after` to go on behind it."""
    type: str
    data: dict[str, Any]


class _Feed:
    """Where to go on, and how long to wait before that."""

    def __init__(self, wanted: EventFilter) -> None:
        self._wanted = wanted
        self._last_id = wanted.after
        self._failures = 0

    def request(self) -> dict[str, Any]:
        headers = {"accept": "text/event-stream"}
        if self._last_id is not None:
            headers["last-event-id"] = self._last_id
        timeout = httpx2.Timeout(10.0, read=IDLE_MAX)
        return {"params": self._wanted.query(), "headers": headers, "timeout": timeout}

    def take(self, event: httpx2.ServerSentEvent) -> GateEvent | None:
        self._failures = 0
        if event.id:
            self._last_id = event.id
        if not event.data:
            return None
        try:
            data = json.loads(event.data)
        except ValueError as error:
            detail = f"the event {event.id} is no JSON"
            raise CallgateError("invalid_answer", detail, CHECK_URL) from error
        return GateEvent(event.id, event.event, data)

    def delay(self) -> float:
        self._failures += 1
        return min(FIRST_DELAY * 2.0 ** min(self._failures, 10), DELAY_MAX)


def _refused(response: httpx2.Response) -> bool:
    """Raises `CallgateError` where asking again cannot help."""
    if response.status_code == 200:
        return False
    error = problem_of(response)
    if not says_nothing(error) or error.code == "invalid_answer":
        raise error
    return True


def read_events(http: httpx2.Client, wanted: EventFilter) -> Iterator[GateEvent]:
    feed = _Feed(wanted)
    while True:
        try:
            with http.stream("GET", PATH, **feed.request()) as response:
                if response.status_code != 200:
                    response.read()
                if not _refused(response):
                    for one in httpx2.EventSource(response):
                        event = feed.take(one)
                        if event is not None:
                            yield event
        except httpx2.RequestError:
            pass
        time.sleep(feed.delay())


async def read_events_async(http: httpx2.AsyncClient, wanted: EventFilter) -> AsyncIterator[GateEvent]:
    feed = _Feed(wanted)
    while True:
        try:
            async with http.stream("GET", PATH, **feed.request()) as response:
                if response.status_code != 200:
                    await response.aread()
                if not _refused(response):
                    async for one in httpx2.EventSource(response):
                        event = feed.take(one)
                        if event is not None:
                            yield event
        except httpx2.RequestError:
            pass
        await asyncio.sleep(feed.delay())
