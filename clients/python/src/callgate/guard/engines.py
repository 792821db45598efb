"""How the two clients run the steps of guarded calls."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from .. import endpoints
from ..errors import CallgateError, invalid_input
from ..http_request import HttpRequest
from ..steps import Step, Steps, run_steps, run_steps_async
from . import run_coroutine, run_function
from .table import GuardTable

Send = Callable[[HttpRequest[Any]], Any]


MakeCall = Callable[[tuple[Any, ...], dict[str, Any]], Steps[object]]


class Engine(Protocol):
    table: GuardTable

    def wrap(self, function: Callable[..., Any], make: MakeCall) -> Callable[..., Any]:
        """The function that callers call. Raises `CallgateError` for a kind that it cannot run."""

    def run(self, steps: Steps[object]) -> Any:
        """Runs a plain function's call. Raises `CallgateError` where only coroutines can wait."""

    async def run_async(self, steps: Steps[object]) -> Any:
        """Runs the call of a coroutine function."""


class ThreadEngine:
    """For `Callgate`: plain functions run in their caller's thread, and the gate is asked there.

    Coroutine functions run in their loop, and the gate is asked in a thread beside it.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.table = GuardTable(self._report_late)

    def wrap(self, function: Callable[..., Any], make: MakeCall) -> Callable[..., Any]:
        if inspect.isasyncgenfunction(function):
            beside = self._send_beside
            return lambda *args, **kwargs: run_coroutine.run_stream(beside, make(args, kwargs))
        if inspect.iscoroutinefunction(function):
            return async_caller(self.run_async, make)
        if inspect.isgeneratorfunction(function):
            return lambda *args, **kwargs: run_function.run_stream(self._send, make(args, kwargs))
        return lambda *args, **kwargs: self.run(make(args, kwargs))

    def run(self, steps: Steps[object]) -> Any:
        return run_steps(steps, self._perform)

    async def run_async(self, steps: Steps[object]) -> Any:
        return await run_steps_async(steps, run_coroutine.performer(self._send_beside))

    def _perform(self, step: Step) -> Any:
        return run_function.perform(self._send, step)

    async def _send_beside(self, request: HttpRequest[Any]) -> Any:
        return await asyncio.to_thread(self._send, request)

    def _report_late(self, decision_id: str, body: dict[str, object]) -> None:
        def send() -> None:
            try:
                self._send(endpoints.report(decision_id, body))
            except CallgateError:
                return

        threading.Thread(target=send, name="callgate-report", daemon=True).start()


class LoopEngine:
    """For `AsyncCallgate`: everything runs in the loop; a plain function runs in a thread."""

    def __init__(self, send: Callable[[HttpRequest[Any]], Awaitable[Any]]) -> None:
        self._send = send
        self.table = GuardTable(self._report_late)

    def wrap(self, function: Callable[..., Any], make: MakeCall) -> Callable[..., Any]:
        if inspect.isasyncgenfunction(function):
            return lambda *args, **kwargs: run_coroutine.run_stream(self._send, make(args, kwargs))
        if inspect.isgeneratorfunction(function):
            name = function.__name__
            raise invalid_input(
                f"`{name}` is a plain generator, which would block the loop",
                "make it `async def`, or guard it with `Callgate`",
            )
        if inspect.iscoroutinefunction(function):
            return async_caller(self.run_async, make)
        return async_caller(self._run_in_thread, make)

    def run(self, steps: Steps[object]) -> Any:
        steps.close()
        raise invalid_input(
            "`AsyncCallgate` cannot decide on a call that is not asynchronous", "use `Callgate`"
        )

    async def run_async(self, steps: Steps[object]) -> Any:
        return await run_steps_async(steps, run_coroutine.performer(self._send))

    async def _run_in_thread(self, steps: Steps[object]) -> Any:
        return await run_steps_async(steps, run_coroutine.performer(self._send, is_plain=True))

    def _report_late(self, decision_id: str, body: dict[str, object]) -> None:
        async def send() -> None:
            try:
                await self._send(endpoints.report(decision_id, body))
            except CallgateError:
                return

        run_coroutine.keep(asyncio.ensure_future(send()))


def async_caller(run: Callable[[Steps[object]], Awaitable[Any]], make: MakeCall) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await run(make(args, kwargs))

    return call
