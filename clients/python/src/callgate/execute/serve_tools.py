"""A worker: runs allowed calls with functions of a program, until it is stopped.

SERVE-1 a call runs only while the server has handed it to this worker, and never twice here.
SERVE-2 the lease of a call is renewed while it runs. When it is lost, the call goes on, and its end
  is reported all the same: the server takes it as a late report.
SERVE-3 what ends is reported until the server answers, or the worker's time to end is over.
SERVE-4 after a stop nothing begins; what was claimed and not begun is handed back.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import CallgateError, invalid_input
from ..guard import execution as runs
from ..guard.execution import GivenUp, Run, report_of
from ..guard.handler_call import HandlerCall
from ..guard.run_coroutine import run_coroutine
from ..guard.run_function import run_function
from ..http_answer import says_nothing
from ..http_request import HttpRequest
from ..models import Execution, Executions
from ..proposal import build_report
from . import executions
from .tools import Tool, read_tools

Send = Callable[[HttpRequest[Any]], Any]
RunAsync = Callable[[Coroutine[Any, Any, runs.Execution]], runs.Execution]

logger = logging.getLogger("callgate")

RENEWS_PER_LEASE = 3
DELAY_MAX = 5.0


def _worker_name() -> str:
    host = "".join(one for one in socket.gethostname() if one.isprintable())
    return f"{host[:32]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True)
class ServeOptions:
    worker: str = field(default_factory=_worker_name)
    """Its name, of which there must be one at a time."""
    max_calls: int = 8
    """How many calls run at the same time."""
    wait: float = 5.0
    """Seconds that a question for calls may wait; a stop takes so long, too."""
    lease_seconds: int = 30
    """After so long without a renewal the server gives a call up."""
    shutdown_seconds: float = 30.0
    """How long calls that run may take after a stop; then they are reported as unknown."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Ends the worker, as SIGTERM and SIGINT do in the main thread."""

    def check(self) -> None:
        """Raises `CallgateError` `invalid_input`."""
        if self.max_calls < 1 or self.lease_seconds < 1 or self.wait < 0:
            raise invalid_input("`max_calls` and `lease_seconds` must be at least 1, `wait` at least 0")


def serve_tools(
    send: Send,
    tools: Mapping[str, Callable[..., Any]],
    options: ServeOptions,
    run_async: RunAsync = asyncio.run,
) -> None:
    """Returns after a stop. Raises `CallgateError` where the server refuses the worker."""
    options.check()
    worker = _Worker(send, read_tools(tools), options, run_async)
    with _stopped_by_signals(options.stop):
        worker.serve()


async def serve_tools_async(
    send: Callable[[HttpRequest[Any]], Awaitable[Any]],
    tools: Mapping[str, Callable[..., Any]],
    options: ServeOptions,
) -> None:
    """As `serve_tools`: asynchronous functions run in this loop, others in threads."""
    loop = asyncio.get_running_loop()

    async def answer(request: HttpRequest[Any]) -> Any:
        return await send(request)

    def send_there(request: HttpRequest[Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(answer(request), loop).result()

    def run_there(run: Coroutine[Any, Any, runs.Execution]) -> runs.Execution:
        return asyncio.run_coroutine_threadsafe(run, loop).result()

    with _stopped_by_signals(options.stop):
        thread = asyncio.ensure_future(
            asyncio.to_thread(serve_tools, send_there, tools, options, run_there)
        )
        try:
            await asyncio.shield(thread)
        except asyncio.CancelledError:
            options.stop.set()
            await thread
            raise


@contextmanager
def _stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda *_: stop.set()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@dataclass
class _Running:
    execution: Execution
    call: HandlerCall
    renew_at: float


class _Worker:
    def __init__(
        self, send: Send, tools: dict[str, Tool], options: ServeOptions, run_async: RunAsync
    ) -> None:
        self._send = send
        self._tools = tools
        self._options = options
        self._run_async = run_async
        self._changed = threading.Condition()
        self._running: dict[str, _Running] = {}
        self._ended = threading.Event()

    def serve(self) -> None:
        renewer = threading.Thread(target=self._renew, name="callgate-renew", daemon=True)
        renewer.start()
        try:
            self._claim_until_stopped()
        finally:
            self._options.stop.set()
            self._wait_for_ends()
            self._ended.set()
            renewer.join()

    def _claim_until_stopped(self) -> None:
        failures, stop = 0, self._options.stop
        while not stop.is_set():
            free = self._wait_for_room()
            if stop.is_set():
                return
            try:
                claimed = self._claim(free)
                failures = 0
            except CallgateError as error:
                if not says_nothing(error) or error.code == "invalid_answer":
                    raise
                failures += 1
                stop.wait(min(DELAY_MAX, 0.1 * 2.0 ** min(failures, 10)))
                continue
            for execution in claimed:
                self._begin(execution)

    def _claim(self, free: int) -> list[Execution]:
        options = self._options
        request = executions.claim(
            options.worker, list(self._tools), free, options.wait, options.lease_seconds
        )
        answer: Executions = self._send(request)
        return answer.executions

    def _wait_for_room(self) -> int:
        """How many more calls may run; waits while there are none."""
        with self._changed:
            while not self._options.stop.is_set():
                free = self._options.max_calls - len(self._running)
                if free > 0:
                    return free
                self._changed.wait(timeout=0.5)
        return 0

    def _begin(self, execution: Execution) -> None:
        """SERVE-1, SERVE-4"""
        with self._changed:
            if execution.execution_id in self._running:
                return
            is_stopped = self._options.stop.is_set()
            if not is_stopped:
                running = _Running(execution, _handler_call(execution), self._next_renewal())
                self._running[execution.execution_id] = running
        if is_stopped:
            self._try(executions.release(execution.execution_id))
            return
        name = f"callgate-{execution.tool}"
        threading.Thread(target=self._run, args=(running,), name=name, daemon=True).start()

    def _run(self, running: _Running) -> None:
        execution_id = running.execution.execution_id
        try:
            self._finish(execution_id, self._execute(running))
        finally:
            with self._changed:
                self._running.pop(execution_id, None)
                self._changed.notify_all()

    def _execute(self, running: _Running) -> dict[str, object]:
        """Runs the function; the body of the report on it."""
        execution, call = running.execution, running.call
        if time.time() * 1_000 > execution.not_after:
            error = {"code": "too_late", "message": "not started in time"}
            return build_report("not_executed", error=error)
        tool = self._tools[execution.tool]
        run = Run(
            call,
            lambda: tool.start(execution.arguments, call),
            lambda late: self._finish_beside(execution.execution_id, report_of(late)),
        )
        if tool.is_async:
            return report_of(self._run_async(run_coroutine(run, is_plain=False)))
        return report_of(run_function(run))

    def _finish(self, execution_id: str, body: dict[str, object]) -> None:
        """SERVE-3"""
        while not self._ended.is_set():
            try:
                self._send(executions.finish(execution_id, body))
                return
            except CallgateError as error:
                if not says_nothing(error):
                    _log_untaken(execution_id, error)
                    return
            self._ended.wait(DELAY_MAX)

    def _finish_beside(self, execution_id: str, body: dict[str, object]) -> None:
        report = threading.Thread(target=self._finish, args=(execution_id, body), daemon=True)
        report.start()

    def _next_renewal(self) -> float:
        return time.monotonic() + self._options.lease_seconds / RENEWS_PER_LEASE

    def _renew(self) -> None:
        """SERVE-2"""
        pause = min(1.0, self._options.lease_seconds / RENEWS_PER_LEASE / 2)
        while not self._ended.wait(pause):
            with self._changed:
                due = [one for one in self._running.values() if one.renew_at <= time.monotonic()]
            for running in due:
                request = executions.renew(running.execution.execution_id, self._options.lease_seconds)
                self._try(request)
                running.renew_at = self._next_renewal()

    def _wait_for_ends(self) -> None:
        """What runs longer than that is reported as unknown, and left to itself."""
        deadline = time.monotonic() + self._options.shutdown_seconds
        with self._changed:
            while self._running and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(timeout=left)
            left_over = list(self._running.values())
        for running in left_over:
            running.call.cancelled.set()
            body = report_of(GivenUp("aborted", 0.0))
            self._try(executions.finish(running.execution.execution_id, body))

    def _try(self, request: HttpRequest[Any]) -> None:
        try:
            self._send(request)
        except CallgateError:
            return


def _log_untaken(execution_id: str, error: CallgateError) -> None:
    """A late report counts; of any other the server says why it does not."""
    if error.code != "late_result_recorded":
        logger.error("the result of %s was not taken: %s", execution_id, error)


def _handler_call(execution: Execution) -> HandlerCall:
    return HandlerCall(
        idempotency_key=execution.idempotency_key,
        decision_id=execution.decision_id,
        call_id=execution.call_id,
        tool=execution.tool,
        time_limit_ms=execution.time_limit_ms,
    )
