"""`gate.guard`: makes a function ask the gate before it runs, and keeps its type."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast, overload

from ..conversation import CallContext, current_context
from ..errors import invalid_input
from ..proposal import build_proposal
from ..refused import Refused
from ..steps import Steps
from .binding import Binding, Parameters
from .engines import Engine
from .handler_call import HandlerCall
from .present import AnswerForm, WrappedAnswer
from .table import DecisionListener, GuardedCall

P = ParamSpec("P")
T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
Y = TypeVar("Y")
S = TypeVar("S")
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


@dataclass(frozen=True)
class ToolCall:
    """A tool call of a framework, which runs the function itself."""

    tool: str
    arguments: object
    context: CallContext
    start: Callable[[Mapping[str, Any], HandlerCall], Any]
    output_of: Callable[[Any], object]
    is_interrupt: Callable[[BaseException], bool] = lambda _: False


class Guard:
    """Makes functions, coroutine functions and generators of both kinds ask the gate.

    A call that does not run returns `Refused`. What the function raises is raised.
    """

    def __init__(self, engine: Engine, options: GuardOptions) -> None:
        self._engine = engine
        self._options = options

    @overload
    def __call__(
        self, function: Callable[Concatenate[HandlerCall, P], AsyncGenerator[Y, S]]
    ) -> Guarded[P, AsyncGenerator[Y | Refused, S]]: ...
    @overload
    def __call__(
        self, function: Callable[P, AsyncGenerator[Y, S]]
    ) -> Guarded[P, AsyncGenerator[Y | Refused, S]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[HandlerCall, P], Generator[Y, S, T]]
    ) -> Guarded[P, Generator[Y | Refused, S, T | Refused]]: ...
    @overload
    def __call__(
        self, function: Callable[P, Generator[Y, S, T]]
    ) -> Guarded[P, Generator[Y | Refused, S, T | Refused]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[HandlerCall, P], Coroutine[Any, Any, T]]
    ) -> Guarded[P, Coroutine[Any, Any, T | Refused]]: ...
    @overload
    def __call__(
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
        whole = replace(self._options, **options)
        if function is None:
            return Guard(self._engine, whole)
        return guard_function(self._engine, function, whole)

    def run_tool(self, call: ToolCall) -> WrappedAnswer[Any] | Refused:
        """Asks the gate about a framework's call, and runs it where it may run."""
        answer: WrappedAnswer[Any] | Refused = self._engine.run(self._steps_of(call))
        return answer

    async def run_tool_async(self, call: ToolCall) -> WrappedAnswer[Any] | Refused:
        """As `run_tool`, for a framework that awaits its tools."""
        answer: WrappedAnswer[Any] | Refused = await self._engine.run_async(self._steps_of(call))
        return answer

    def _steps_of(self, call: ToolCall) -> Steps[object]:
        whole = call.context.under(current_context())
        listener = self._options.on_decision
        guarded = GuardedCall(
            proposal=build_proposal(call.tool, call.arguments, call.context),
            start=call.start,
            has_name=whole.call_id is not None or whole.approval_id is not None,
            on_held=whole.on_held or "return",
            answers="wrapped",
            on_refused="return",
            listeners=() if listener is None else (listener,),
            output_of=call.output_of,
            is_interrupt=call.is_interrupt,
        )
        return self._engine.table.answer(guarded)


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


def guard_function(
    engine: Engine, function: Callable[..., Any], options: GuardOptions
) -> Guarded[..., Any]:
    name = options.name or getattr(function, "__name__", None)
    if isinstance(function, type) or not callable(function) or not name:
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
