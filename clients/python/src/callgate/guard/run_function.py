"""Runs plain functions and generators of guarded calls in the thread of their caller.

A plain function cannot be stopped. At its time limit the gate hears that its outcome is unknown,
and `HandlerCall.cancelled` is set; a success that comes later settles the call, and is returned.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from typing import Any

from ..errors import invalid_input
from ..http_request import HttpRequest
from ..steps import Invoke, Pause, Step, Steps
from .execution import Execution, GivenUp, Raised, Returned, Run
from .handler_call import running

Send = Callable[[HttpRequest[Any]], Any]
LONGEST_SECONDS = 1_000_000.0
"""Longer times overflow in the system's timers."""


def perform(send: Send, step: Step) -> Any:
    if isinstance(step, HttpRequest):
        return send(step)
    if isinstance(step, Pause):
        wait(step.ends, step.timeout)
        return None
    return run_function(step.call)


class Clock:
    """The time of one run, and whether its limit is over."""

    def __init__(self, run: Run) -> None:
        self._started = time.perf_counter()
        self._run = run

    def took_ms(self) -> float:
        return (time.perf_counter() - self._started) * 1_000

    def left_ms(self) -> float:
        return self._run.call.time_limit_ms - self.took_ms()

    def left_seconds(self) -> float:
        return min(max(0.0, self.left_ms()) / 1_000, LONGEST_SECONDS)

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Reports at the time limit that the outcome is unknown, while the function goes on."""
        timer = threading.Timer(self.left_seconds(), self._over)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _over(self) -> None:
        self._run.call.cancelled.set()
        self._run.report(GivenUp("time_limit", self.took_ms()))


def run_function(run: Run) -> Execution:
    """Never raises what the function raises."""
    clock = Clock(run)
    try:
        with clock.limited(), running(run.call):
            value = run.start()
            _assert_ended(value)
    except BaseException as error:
        return ended_with(error, clock, run)
    return Returned(value, clock.took_ms())


def ended_with(error: BaseException, clock: Clock, run: Run) -> Execution:
    if not isinstance(error, Exception):
        return GivenUp("aborted", clock.took_ms(), reason=error)
    if run.call.cancelled.is_set():
        return GivenUp("time_limit", clock.took_ms(), cause=error)
    return Raised(error, clock.took_ms())


def _assert_ended(value: object) -> None:
    """Raises `CallgateError` where a plain function returns what still has to run."""
    if inspect.iscoroutine(value):
        value.close()
        raise invalid_input("the function returns a coroutine", "guard the async function itself")
    if inspect.isgenerator(value) or inspect.isasyncgen(value):
        raise invalid_input("the function returns a generator", "guard the generator function itself")


def run_stream(send: Send, steps: Steps[object]) -> Generator[Any, Any, Any]:
    """The guarded generator. A refusal, or an output from memory, is the only value it yields."""
    is_streamed = False
    try:
        step = next(steps)
        while True:
            try:
                if isinstance(step, Invoke):
                    is_streamed = True
                    answer = yield from _pass_on(step.call)
                else:
                    answer = perform(send, step)
            except GeneratorExit as error:
                # `_pass_on` has closed the function's generator.
                step = steps.send(GivenUp("aborted", 0.0, reason=error))
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        if not is_streamed:
            yield end.value
        return end.value


def _pass_on(run: Run) -> Generator[Any, Any, Execution]:
    """Yields what the function yields. Its output is its return value, else the last value."""
    clock, last = Clock(run), None
    try:
        with running(run.call):
            source = run.start()
            step = next(source)
        while True:
            last = step
            if clock.left_ms() < 0:
                run.call.cancelled.set()
                source.close()
                return GivenUp("time_limit", clock.took_ms())
            try:
                sent = yield step
            except GeneratorExit:
                source.close()
                raise
            except BaseException as error:
                with running(run.call):
                    step = source.throw(error)
            else:
                with running(run.call):
                    step = source.send(sent)
    except StopIteration as end:
        return Returned(last if end.value is None else end.value, clock.took_ms())
    except BaseException as error:
        return ended_with(error, clock, run)
