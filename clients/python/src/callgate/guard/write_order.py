"""Writes of one conversation run one after the other; those of one step run side by side."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

End = Future[Any]


def new_end() -> End:
    """A future that no waiter can cancel."""
    end: End = Future()
    end.set_running_or_notify_cancel()
    return end


@dataclass
class _Writes:
    step: str | None
    """The step of the latest writes."""
    before: list[End]
    """The writes of earlier steps, which must end first."""
    latest: list[End]


class WriteOrder:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writes: dict[str, _Writes] = {}

    def enter(self, conversation: str, step: str | None) -> tuple[list[End], End]:
        """What must end before this write may run, and its own end: call `leave` with that."""
        end = new_end()
        with self._lock:
            now = self._writes.get(conversation)
            if now is not None and step is not None and now.step == step:
                now.latest.append(end)
                return list(now.before), end
            before = [] if now is None else [*now.before, *now.latest]
            before = [one for one in before if not one.done()]
            self._writes[conversation] = _Writes(step, before, [end])
            return list(before), end

    def leave(self, conversation: str, end: End) -> None:
        with self._lock:
            end.set_result(None)
            now = self._writes.get(conversation)
            if now is not None and all(one.done() for one in [*now.before, *now.latest]):
                del self._writes[conversation]


GAVE_UP = object()
"""The answer of a run that its caller gave up."""


class SharedRuns:
    """Each decision runs once at a time; who asks for it meanwhile gets the same answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, Future[Any]] = {}

    def join(self, decision_id: str) -> tuple[Future[Any], bool]:
        """The run's answer, and whether the caller must run it and call `leave`."""
        with self._lock:
            current = self._runs.get(decision_id)
            if current is not None:
                return current, False
            mine = new_end()
            self._runs[decision_id] = mine
            return mine, True

    def leave(self, decision_id: str, answer: object, error: BaseException | None) -> None:
        """An error that ends the caller alone, such as a cancellation, is `GaveUp` for the others."""
        with self._lock:
            run = self._runs.pop(decision_id)
        if error is None:
            run.set_result(answer)
        elif isinstance(error, Exception):
            run.set_exception(error)
        else:
            run.set_result(GAVE_UP)
