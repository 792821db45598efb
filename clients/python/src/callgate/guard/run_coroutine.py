"""Runs functions and generators of guarded calls beside others, with `asyncio`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from ..http_request import HttpRequest
from ..steps import Invoke, Pause, Step, Steps
from .execution import Execution, GivenUp, Returned, Run
from .handler_call import running
from .run_function import Clock, ended_with

SendAsync = Callable[[HttpRequest[Any]], Awaitable[Any]]
CANCEL_SECONDS = 5.0
"""How long a cancelled function may take to end."""

_reports: set[asyncio.Task[Any]] = set()


def performer(send: SendAsync, is_plain: bool = False) -> Callable[[Step], Awaitable[Any]]:
    """`is_plain`: the function is not asynchronous, and runs in a thread."""

    async def perform(step: Step) -> Any:
        if isinstance(step, HttpRequest):
            return await _send(send, step)
        if isinstance(step, Pause):
            return await _pause(step)
        return await run_coroutine(step.call, is_plain)

    return perform


async def _pause(step: Pause) -> None:
    if step.ends:
        await asyncio.wait([asyncio.wrap_future(one) for one in step.ends], timeout=step.timeout)


async def _send(send: SendAsync, request: HttpRequest[Any]) -> Any:
    """A report goes out even if its caller is cancelled."""
    if not request.is_patient:
        return await send(request)
    task = asyncio.ensure_future(_awaited(send(request)))
    keep(task)
    return await asyncio.shield(task)


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


def keep(task: asyncio.Task[Any]) -> None:
    """The loop itself does not hold on to tasks."""
    _reports.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    _reports.discard(task)
    if not task.cancelled():
        task.exception()


async def run_coroutine(run: Run, is_plain: bool) -> Execution:
    """Never raises what the function raises. A cancellation of the caller cancels the function."""
    clock = Clock(run)
    body = _start_in_thread(run) if is_plain else _start(run)
    task = asyncio.ensure_future(body)
    keep(task)
    try:
        await asyncio.wait([task], timeout=clock.left_seconds())
    except asyncio.CancelledError as error:
        run.call.cancelled.set()
        if is_plain:
            task.add_done_callback(lambda late: _report_late(late, run, clock))
            return GivenUp("aborted", clock.took_ms(), reason=error)
        return await _cancelled(run, task, clock, error)
    if task.done():
        return _end_of(task, run, clock)
    run.call.cancelled.set()
    task.add_done_callback(lambda late: _report_late(late, run, clock))
    if not is_plain:
        task.cancel()
    return GivenUp("time_limit", clock.took_ms())


async def _start(run: Run) -> object:
    with running(run.call):
        value = run.start()
        return await value if inspect.isawaitable(value) else value


async def _start_in_thread(run: Run) -> object:
    """A thread cannot be stopped, so that its end may come long after the time limit."""
    return await asyncio.to_thread(_start_plainly, run)


def _start_plainly(run: Run) -> object:
    with running(run.call):
        return run.start()


async def _cancelled(
    run: Run, task: asyncio.Task[object], clock: Clock, reason: BaseException
) -> Execution:
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=CANCEL_SECONDS)
    if done and not task.cancelled() and task.exception() is None:
        run.report(Returned(task.result(), clock.took_ms()))
    return GivenUp("aborted", clock.took_ms(), reason=reason)


def _end_of(task: asyncio.Task[object], run: Run, clock: Clock) -> Execution:
    if task.cancelled():
        return GivenUp("aborted", clock.took_ms(), reason=asyncio.CancelledError())
    error = task.exception()
    if error is None:
        return Returned(task.result(), clock.took_ms())
    return ended_with(error, clock, run)


def _report_late(task: asyncio.Task[object], run: Run, clock: Clock) -> None:
    """A late success is definite; a failure after the limit may be the cancellation itself."""
    if not task.cancelled() and task.exception() is None:
        run.report(Returned(task.result(), clock.took_ms()))


async def run_stream(send: SendAsync, steps: Steps[object]) -> AsyncGenerator[Any, Any]:
    """The guarded generator. A refusal, or an output from memory, is the only value it yields."""
    perform = performer(send)
    invoke, answer = await _until_invoke(steps, perform, None)
    if invoke is None:
        yield answer
        return
    stream = _Stream(invoke.call)
    execution: Execution
    try:
        while True:
            value = await stream.next()
            try:
                stream.sent = yield value
            except Exception as error:
                stream.raised = error
    except BaseException as error:
        execution = await stream.ended_with(error)
    await _until_invoke(steps, perform, execution)


async def _until_invoke(
    steps: Steps[object], perform: Callable[[Step], Awaitable[Any]], answer: object
) -> tuple[Invoke | None, object]:
    """Runs the steps up to the one that runs the function, or to their end, which has an answer."""
    try:
        step = steps.send(answer)
        while not isinstance(step, Invoke):
            try:
                got = await perform(step)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(got)
    except StopIteration as end:
        return None, end.value
    return step, None


class _Stream:
    """Reads an asynchronous generator. Its output is the last value that it yields."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._clock = Clock(run)
        self._last: object = None
        self.sent: object = None
        self.raised: Exception | None = None
        with running(run.call):
            self._source = run.start()

    async def next(self) -> object:
        """Raises `StopAsyncIteration`, `TimeoutError` at the limit, and what the function raises."""
        if self.raised is None:
            step = self._source.asend(self.sent)
        else:
            step = self._source.athrow(self.raised)
        self.sent = self.raised = None
        with running(self._run.call):
            self._last = await asyncio.wait_for(step, self._clock.left_seconds())
        return self._last

    async def ended_with(self, error: BaseException) -> Execution:
        took = self._clock.took_ms()
        if isinstance(error, StopAsyncIteration):
            return Returned(self._last, took)
        if isinstance(error, GeneratorExit):
            await self._source.aclose()
        if isinstance(error, asyncio.TimeoutError) and self._clock.left_ms() <= 0:
            self._run.call.cancelled.set()
            return GivenUp("time_limit", took)
        return ended_with(error, self._clock, self._run)
