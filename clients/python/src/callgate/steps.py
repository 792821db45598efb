"""Work that asks the gate, written once for programs with and without `asyncio`.

A function of this kind is a generator: it yields what it needs (an answer of the gate, the run of a
function, the end of another run), and gets it sent. It does no input and output itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from .http_request import HttpRequest

T = TypeVar("T")


@dataclass(frozen=True)
class Pause:
    """Waits until all of these have ended, however they end."""

    ends: Sequence[Future[Any]]
    timeout: float | None = None
    """Seconds after which it goes on all the same."""


@dataclass(frozen=True)
class Invoke:
    """Runs the guarded function. The answer is an `Execution`; nothing is raised."""

    call: Any


Step = HttpRequest[Any] | Pause | Invoke
Steps = Generator[Step, Any, T]


def ask(request: HttpRequest[T]) -> Steps[T]:
    """The gate's answer. Raises `CallgateError`, unless the request says what to give up with."""
    answer: T = yield request
    return answer


def run_steps(steps: Steps[T], perform: Callable[[Step], Any]) -> T:
    """Runs a generator of steps to its end."""
    try:
        step = next(steps)
        while True:
            try:
                answer = perform(step)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


async def run_steps_async(steps: Steps[T], perform: Callable[[Step], Awaitable[Any]]) -> T:
    """As `run_steps`. A cancellation is raised in the generator, which may still report."""
    try:
        step = next(steps)
        while True:
            try:
                answer = await perform(step)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result
