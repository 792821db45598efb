"""`gate.guard`: makes a function ask the gate before it runs, and keeps its type."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast, overload

from .. import endpoints
from ..conversation import CallContext, current_context
from ..errors import CallgateError, invalid_input
from ..http_request import HttpRequest
from ..proposal import build_proposal
from ..refused import Refused
from ..steps import Step, Steps, run_steps, run_steps_async
from . import run_coroutine, run_function
from .binding import Binding, Parameters
from .handler_call import HandlerCall
from .present import AnswerForm, WrappedAnswer
from .table import DecisionListener, GuardedCall, GuardTable

P = ParamSpec("P")
T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
Y = TypeVar("Y")
S = TypeVar("S")
Send = Callable[[HttpRequest[Any]], Any]
OnRefused = Literal["return", "raise"]


class Guarded(Protocol[P, R_co]):
    """A guarded function. It is called as before."""

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def with_options(self, **options: Any) -> Guarded[P, R_co]:
        """The same function for a call of its own: `f.with_options(call_id="a1")(…)`.

        Options are `call_id`, `approval_id`, `estimated_cost`, and those of `gate.conversation`.
        """

    def call_json(self, arguments: str | Mapping[str, Any], **options: Any) -> R_co:
        """Calls it with the arguments that a model wrote: a mapping, or JSON text as it came."""


@dataclass(frozen=True)
class GuardOptions:
    name: str | None = None
    """Name of the tool. Default: that of the function."""
    answers: AnswerForm = "noted"
    on_refused: OnRefused = "return"
    on_decision: DecisionListener | None = None


class Guard:
    """Makes functions, coroutine functions and generators of both kinds ask the gate.

    A call that does not run returns `Refused`. What the function raises is raised.
    """

    def __init__(self, engine: Engine, options: GuardOptions) -> None:
        self._engine = engine
        self._options = options

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[Concatenate[HandlerCall, P], AsyncGenerator[Y, S]]
    ) -> Guarded[P, AsyncGenerator[Y | Refused, S]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[P, AsyncGenerator[Y, S]]
    ) -> Guarded[P, AsyncGenerator[Y | Refused, S]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[Concatenate[HandlerCall, P], Generator[Y, S, T]]
    ) -> Guarded[P, Generator[Y | Refused, S, T | Refused]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[P, Generator[Y, S, T]]
    ) -> Guarded[P, Generator[Y | Refused, S, T | Refused]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[Concatenate[HandlerCall, P], Coroutine[Any, Any, T]]
    ) -> Guarded[P, Coroutine[Any, Any, T | Refused]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[P, Coroutine[Any, Any, T]]
    ) -> Guarded[P, Coroutine[Any, Any, T | Refused]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[HandlerCall, P], T]
    ) -> Guarded[P, T | Refused]: ...
    @overload
    def __call__(self, function: Callable[P, T]) -> Guarded[P, T | Refused]: ...
    @overload
    def __call__(
        self,
        *,
        name: str | None = None,
        answers: Literal["noted", "bare"] = "noted",
        on_refused: OnRefused = "return",
        on_decision: DecisionListener | None = None,
    ) -> Guard: ...
    @overload
    def __call__(
        self,
        *,
        answers: Literal["wrapped"],
        name: str | None = None,
        on_refused: OnRefused = "return",
        on_decision: DecisionListener | None = None,
    ) -> WrappingGuard: ...
    def __call__(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Guards a function, or makes a decorator with these options.

        `name` is the tool's name in the policy. `answers="wrapped"` returns `WrappedAnswer`, with
        notes and warnings beside the output. `on_refused="raise"` raises `CallgateError` `refused`.
        `on_decision` is called with each decision and its proposal before the call goes on.
        """
        if function is None:
            return type(self)(self._engine, replace(self._options, **options))
        return guard_function(self._engine, function, self._options)


class WrappingGuard(Protocol):
    """The decorator of `guard(answers="wrapped")`."""

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[Concatenate[HandlerCall, P], Coroutine[Any, Any, T]]
    ) -> Guarded[P, Coroutine[Any, Any, WrappedAnswer[T] | Refused]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[P, Coroutine[Any, Any, T]]
    ) -> Guarded[P, Coroutine[Any, Any, WrappedAnswer[T] | Refused]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[HandlerCall, P], T]
    ) -> Guarded[P, WrappedAnswer[T] | Refused]: ...
    @overload
    def __call__(self, function: Callable[P, T]) -> Guarded[P, WrappedAnswer[T] | Refused]: ...


class Engine(Protocol):
    """Runs the steps of guarded calls: what the two clients do differently."""

    table: GuardTable

    def wrap(self, function: Callable[..., Any], make: MakeCall) -> Callable[..., Any]:
        """The function that callers call. Raises `CallgateError` for a kind that it cannot run."""


MakeCall = Callable[[tuple[Any, ...], dict[str, Any]], Steps[object]]


class ThreadEngine:
    """For `Callgate`: plain functions run in their caller's thread, and the gate is asked there.

    Coroutine functions run in their loop, and the gate is asked in a thread beside it.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.table = GuardTable(self._report_late)

    def wrap(self, function: Callable[..., Any], make: MakeCall) -> Callable[..., Any]:
        if inspect.isasyncgenfunction(function):
            return lambda *args, **kwargs: run_coroutine.run_stream(
                self._send_beside, make(args, kwargs)
            )
        if inspect.iscoroutinefunction(function):
            return async_caller(run_coroutine.performer(self._send_beside), make)
        if inspect.isgeneratorfunction(function):
            return lambda *args, **kwargs: run_function.run_stream(self._send, make(args, kwargs))
        return lambda *args, **kwargs: run_steps(make(args, kwargs), self._perform)

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
        is_plain = not inspect.iscoroutinefunction(function)
        return async_caller(run_coroutine.performer(self._send, is_plain), make)

    def _report_late(self, decision_id: str, body: dict[str, object]) -> None:
        async def send() -> None:
            try:
                await self._send(endpoints.report(decision_id, body))
            except CallgateError:
                return

        run_coroutine.keep(asyncio.ensure_future(send()))


def async_caller(perform: Callable[[Step], Awaitable[Any]], make: MakeCall) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await run_steps_async(make(args, kwargs), perform)

    return call


def guard_function(
    engine: Engine, function: Callable[..., Any], options: GuardOptions
) -> Guarded[..., Any]:
    name = options.name or getattr(function, "__name__", "")
    if isinstance(function, type) or not callable(function) or not name.isprintable() or not name:
        raise invalid_input(f"{function!r} cannot be guarded", "guard a function that has a name")
    return _Builder(engine, function, options, name, Binding(function)).build(CallContext())


@dataclass(frozen=True)
class _Builder:
    """Builds the guarded function, again for each set of options."""

    engine: Engine
    function: Callable[..., Any]
    options: GuardOptions
    name: str
    binding: Binding

    def build(self, context: CallContext) -> Guarded[..., Any]:
        """Frameworks look at a function's kind, signature and annotations: all of them stay."""
        guarded: Any = self.engine.wrap(self.function, functools.partial(self._call, context))
        functools.update_wrapper(guarded, self.function)
        # Whoever unwraps a function would get one that asks nobody.
        del guarded.__wrapped__
        guarded.__signature__ = self.binding.signature
        guarded.__annotations__ = self.binding.annotations
        guarded.with_options = lambda **options: self.build(_context(options).under(context))
        by_json = self.engine.wrap(self.function, functools.partial(self._call_json, context))
        guarded.call_json = by_json
        return cast(Guarded[..., Any], guarded)

    def _call(
        self, context: CallContext, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Steps[object]:
        parameters = self.binding.bind(args, kwargs)
        arguments = self.binding.arguments_of(parameters)

        def start(decided: Mapping[str, Any], call: HandlerCall) -> Any:
            return self._start(self.binding.decided(parameters, decided), call)

        return self._answer(context, arguments, start)

    def _call_json(
        self, context: CallContext, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Steps[object]:
        *leading, arguments = args

        def start(decided: Mapping[str, Any], call: HandlerCall) -> Any:
            parameters = self.binding.from_plain(decided)
            return self._start(self.binding.bind_self(tuple(leading), parameters), call)

        return self._answer(_context(kwargs).under(context), arguments, start)

    def _start(self, parameters: Parameters, call: HandlerCall) -> Any:
        return self.binding.call(self.function, parameters, call)

    def _answer(
        self,
        context: CallContext,
        arguments: object,
        start: Callable[[Mapping[str, Any], HandlerCall], Any],
    ) -> Steps[object]:
        proposal = build_proposal(self.name, arguments, context)
        whole = context.under(current_context())
        is_stream = inspect.isgeneratorfunction(self.function) or inspect.isasyncgenfunction(
            self.function
        )
        listener = self.options.on_decision
        call = GuardedCall(
            proposal=proposal,
            start=start,
            has_name=whole.call_id is not None or whole.approval_id is not None,
            on_held=whole.on_held or "return",
            answers=self.options.answers,
            on_refused=self.options.on_refused,
            listeners=() if listener is None else (listener,),
            is_stream=is_stream,
        )
        return self.engine.table.answer(call)


def _context(options: Mapping[str, Any]) -> CallContext:
    try:
        return CallContext(**options)
    except TypeError as error:
        raise invalid_input(f"an option of a call is wrong: {error}") from error
