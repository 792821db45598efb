"""What a function knows of the call that it runs for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class HandlerCall:
    """A function receives it in the parameter that is annotated with this class."""

    idempotency_key: str
    """Send it downstream: it is the same for every retry of one intended execution."""
    decision_id: str
    call_id: str
    tool: str
    time_limit_ms: float
    cancelled: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)
    """Set at the time limit, and when nobody waits for the result any more."""
    turn_ends: tuple[Future[Any], ...] = field(default=(), repr=False, compare=False)


_current: ContextVar[HandlerCall | None] = ContextVar("callgate_call", default=None)


def current_call() -> HandlerCall | None:
    """The call that the code runs for; None outside of guarded functions and handlers."""
    return _current.get()


@contextmanager
def running(call: HandlerCall) -> Iterator[None]:
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)
