"""Waits for verdicts and results, as long as the caller wants to."""

from __future__ import annotations

import time

from . import endpoints, models
from .decisions import Decision
from .errors import CallgateError
from .steps import Steps, ask

ONE_WAIT = 30.0
"""Seconds of one request, so that no proxy between ends it."""


def wait_decision(decision_id: str, timeout: float | None) -> Steps[Decision]:
    """The decision once the call is no longer held. Raises `timeout` after `timeout` seconds."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        left = _left(deadline)
        decision = yield from ask(endpoints.get_decision(decision_id, min(ONE_WAIT, left)))
        if decision.outcome != "held":
            return decision
        if left <= 0:
            detail = f"nobody has decided on the call `{decision_id}` in {timeout} s"
            raise CallgateError("timeout", detail, "it is still held: wait again, or go on")


def wait_result(decision_id: str, timeout: float | None) -> Steps[models.StoredResult | None]:
    """How the call ended; None if nobody has reported it in `timeout` seconds."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        left = _left(deadline)
        try:
            result = yield from ask(endpoints.get_result(decision_id, min(ONE_WAIT, left)))
        except CallgateError as error:
            if not endpoints.is_no_result(error):
                raise
        else:
            if result.status != "started":
                return result
        if left <= 0:
            return None


def _left(deadline: float | None) -> float:
    return ONE_WAIT if deadline is None else max(0.0, deadline - time.monotonic())
