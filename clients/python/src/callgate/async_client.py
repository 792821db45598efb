"""The client for programs with `asyncio`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Literal, TypeVar

import httpx2

from . import endpoints, models, proposal, waiting
from .connection import Connection
from .conversation import CallContext, Mark, OnHeld, entered
from .decisions import Decision
from .endpoints import Effect, Status
from .errors import CallgateError
from .events import EventFilter, GateEvent, read_events_async
from .execute.serve_tools import ServeOptions, serve_tools_async
from .guard.engines import LoopEngine
from .guard.guard import Guard, GuardOptions
from .http_answer import Attempts, body_of, closed, connection_error, read_answer
from .http_request import HttpRequest
from .steps import Step, Steps, run_steps_async

T = TypeVar("T")


class AsyncCallgate:
    """A gate that runs as `callgate serve`. Use it in one event loop.

    `url` is `$CALLGATE_URL` or http://127.0.0.1:8181 by default, `token` is `$CALLGATE_TOKEN` or
    none, `timeout` is in seconds for one question, its retries included. Methods raise
    `CallgateError` unless they say otherwise.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
    ) -> None:
        self.connection = Connection.create(url, token, timeout, retries)
        self._http = httpx2.AsyncClient(**self.connection.client_options())
        self._is_closed = False
        self.guard = Guard(LoopEngine(self.send), GuardOptions())
        """Makes a function ask the gate before it runs: see `Guard.__call__`."""

    def conversation(
        self,
        conversation_id: str | None = None,
        *,
        turn: Mark | None = None,
        step: Mark | None = None,
        tenant_id: str | None = None,
        agent_id: str | None = None,
        assistant_text: str | None = None,
        confirmation: str | None = None,
        on_held: OnHeld | None = None,
    ) -> AbstractContextManager[CallContext]:
        """Calls inside of the block belong to this conversation, turn and step.

        Blocks may be nested: what an inner block leaves out comes from the outer one.
        """
        return entered(
            CallContext(
                conversation_id,
                tenant_id,
                agent_id,
                turn,
                step,
                assistant_text,
                confirmation,
                on_held,
            )
        )

    async def propose(
        self,
        tool: str,
        arguments: object,
        *,
        conversation_id: str | None = None,
        call_id: str | None = None,
        turn: Mark | None = None,
        step: Mark | None = None,
        tenant_id: str | None = None,
        agent_id: str | None = None,
        assistant_text: str | None = None,
        confirmation: str | None = None,
        approval_id: str | None = None,
        estimated_cost: models.Money | None = None,
        wait: float = 0.0,
    ) -> Decision:
        """Asks whether a call may run. The same call id gets the same decision.

        `arguments` are plain data or the JSON text that the model wrote. `wait` is how many seconds
        a held call may wait for its verdict. A gate that does not answer refuses with
        `gate_unavailable`: nothing but `outcome == "allowed"` lets a call run.
        """
        context = CallContext(
            conversation_id,
            tenant_id,
            agent_id,
            turn,
            step,
            assistant_text,
            confirmation,
            None,
            call_id,
            approval_id,
            estimated_cost,
        )
        return await self.send(
            proposal.propose(proposal.build_proposal(tool, arguments, context), wait)
        )

    async def report(
        self,
        decision_id: str,
        status: Status,
        *,
        output: object = None,
        error: BaseException | str | None = None,
        effect: Effect | None = None,
        duration_ms: float | None = None,
        cost: models.Money | None = None,
    ) -> models.ReportOutcome:
        """Reports how an allowed call ended. What is reported stands."""
        body = proposal.build_report(status, output, error, effect, duration_ms, cost)
        return await self.send(endpoints.report(decision_id, body))

    async def wait_decision(self, decision_id: str, *, timeout: float | None = None) -> Decision:
        """Waits for the verdict on a held call; any other decision returns at once.

        Raises `timeout` after `timeout` seconds. None: it waits as long as the hold lasts.
        """
        return await self._run(waiting.wait_decision(decision_id, timeout))

    async def result(
        self, decision_id: str, *, timeout: float | None = 0.0
    ) -> models.StoredResult | None:
        """How an allowed call ended; None if nobody has reported it in `timeout` seconds."""
        return await self._run(waiting.wait_result(decision_id, timeout))

    async def pending(
        self, *, tenant_id: str | None = None, conversation_id: str | None = None
    ) -> list[models.PendingCall]:
        """The calls that wait for a person, the oldest first."""
        return await self.send(endpoints.list_approvals(tenant_id, conversation_id))

    async def approval(self, approval_id: str) -> models.ShownApproval:
        """A held call, what happened before it, and what became of it."""
        return await self.send(endpoints.get_approval(approval_id))

    async def approve(
        self,
        approval_id: str,
        *,
        reason: str | None = None,
        further_calls: int | Literal["any"] | None = None,
        further_until_ms: int | None = None,
    ) -> Decision:
        """Lets a held call run, after the gate has checked it again. Returns the new decision.

        `further_calls` and `further_until_ms` (Unix time in ms) also allow further calls of the tool
        in this conversation that the same rule holds.
        """
        further = endpoints.further(further_calls, further_until_ms)
        return await self.send(endpoints.answer_hold("approve", approval_id, reason, further))

    async def deny(self, approval_id: str, *, reason: str | None = None) -> Decision:
        """Refuses a held call for good."""
        return await self.send(endpoints.answer_hold("deny", approval_id, reason))

    async def end_conversation(
        self, conversation_id: str, *, tenant_id: str | None = None, reason: str | None = None
    ) -> models.RulingOutcome:
        """Refuses all further calls of a conversation."""
        return await self.send(endpoints.order_conversation("end", conversation_id, tenant_id, reason))

    async def resume(
        self, conversation_id: str, *, tenant_id: str | None = None, reason: str | None = None
    ) -> models.RulingOutcome:
        """Decides calls of an ended or stopped conversation again."""
        return await self.send(
            endpoints.order_conversation("resume", conversation_id, tenant_id, reason)
        )

    def events(
        self,
        *,
        after: str | None = None,
        from_start: bool = False,
        types: Sequence[str] = (),
        conversation_id: str | None = None,
        tenant_id: str | None = None,
    ) -> AsyncIterator[GateEvent]:
        """Follows what the gate decides, without an end: from now on, or from an earlier point.

        That is behind the event whose `id` is `after`, or `from_start` the beginning of the journal.
        A broken connection is opened again, and goes on behind the last event. An event of the type
        `gap` says that the journal no longer has what lay between.
        """
        wanted = EventFilter(after, from_start, tuple(types), conversation_id, tenant_id)
        return read_events_async(self._http, wanted)

    async def serve_tools(self, tools: Mapping[str, Callable[..., Any]], **options: Any) -> None:
        """Runs allowed calls of these tools until SIGTERM or SIGINT: see `ServeOptions`."""
        await serve_tools_async(self.send, tools, ServeOptions(**options))

    async def send(self, request: HttpRequest[T]) -> T:
        """Sends one request, and again where that is safe and there is no answer."""
        deadline = time.monotonic() + self.connection.time_for(request)
        attempts = Attempts(request, self.connection.retries)
        body = body_of(request)
        while True:
            try:
                return read_answer(request, await self._exchange(request, body))
            except httpx2.RequestError as cause:
                error, left = (
                    connection_error(cause, self.connection.url),
                    deadline - time.monotonic(),
                )
                delay = attempts.delay_after(error, cause, left)
            except CallgateError as cause:
                error, left = cause, deadline - time.monotonic()
                delay = attempts.delay_after(error, cause, left)
            if delay is None or self._is_closed:
                answer: T = attempts.give_up(error)
                return answer
            await asyncio.sleep(delay)

    async def _exchange(self, request: HttpRequest[Any], body: bytes | None) -> httpx2.Response:
        if self._is_closed:
            raise closed()
        return await self._http.request(
            request.method,
            request.path,
            params=dict(request.query),
            content=body,
            headers={"content-type": "application/json", **request.headers} if body else None,
            timeout=self.connection.time_for(request),
        )

    async def _run(self, steps: Steps[T]) -> T:
        return await run_steps_async(steps, self._perform)

    async def _perform(self, step: Step) -> Any:
        if isinstance(step, HttpRequest):
            return await self.send(step)
        raise TypeError(f"a client cannot do this: {step}")

    async def close(self) -> None:
        """Closes the connections. Calls of guarded functions are refused from then on."""
        self._is_closed = True
        await self._http.aclose()

    async def __aenter__(self) -> AsyncCallgate:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
