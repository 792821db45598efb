"""One run of a function for an allowed call: what is run, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ..failures import failure_form, failure_of
from ..proposal import build_report
from .handler_call import HandlerCall

Why = Literal["time_limit", "aborted"]


@dataclass(frozen=True)
class Run:
    """A function that is ready to run. `start` calls it: the value may be awaitable or iterable."""

    call: HandlerCall
    start: Callable[[], Any]
    report: Callable[[Execution], None] = field(repr=False)
    """Reports without waiting for it: that the time is over, or a success that came after that."""


@dataclass(frozen=True)
class Returned:
    value: object
    duration_ms: float


@dataclass(frozen=True)
class Raised:
    error: BaseException
    duration_ms: float


@dataclass(frozen=True)
class GivenUp:
    """It was begun, and nobody waits for its end: whether it took effect is unknown."""

    why: Why
    duration_ms: float
    reason: BaseException | None = None
    """What to raise instead of `time_limit`."""
    cause: BaseException | None = None
    """What the function raised after its time limit."""


@dataclass(frozen=True)
class Interrupted:
    """The framework stopped it, and begins it again later: for the gate it has not run."""

    error: BaseException


Execution = Returned | Raised | GivenUp | Interrupted


def as_it_is(value: object) -> object:
    return value


GIVEN_UP: dict[Why, str] = {
    "time_limit": "ran longer than its time limit",
    "aborted": "given up while it ran",
}


def report_of(execution: Execution, output_of: Callable[[Any], object] = as_it_is) -> dict[str, object]:
    """The body of the report on how the call ended. `output_of`: what is journaled of a value."""
    if isinstance(execution, Interrupted):
        error = {"code": "interrupted", "message": "interrupted by its framework"}
        return build_report("not_executed", error=error)
    took = round(execution.duration_ms, 3)
    if isinstance(execution, GivenUp):
        error = {"code": execution.why, "message": GIVEN_UP[execution.why]}
        return build_report("unknown", error=error, duration_ms=took)
    if isinstance(execution, Raised):
        failure = failure_of(execution.error)
        return build_report("failed", error=failure.error(), effect=failure.effect, duration_ms=took)
    form = failure_form(execution.value)
    if form is None:
        return build_report("succeeded", output_of(execution.value), duration_ms=took, is_returned=True)
    output = output_of(execution.value)
    return build_report("failed", output, form.error(), form.effect, took, is_returned=True)
