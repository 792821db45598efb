"""Callgate for LangChain and LangGraph: `create_agent(…, middleware=[gate_middleware(gate)])`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .async_client import AsyncCallgate
from .client import Callgate
from .conversation import CallContext
from .guard.guard import ToolCall
from .guard.present import NOTE_BEGINS, WrappedAnswer
from .refused import Refused

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain.tools.tool_node import ToolCallRequest
    from langchain_core.messages import ToolMessage
    from langgraph.types import Command

    Handler = Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    AsyncHandler = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]

ContextOf = Callable[[Any], CallContext]

ATTEMPTS_MAX = 100
"""How often a graph may interrupt one call, and begin it again."""


def gate_middleware(
    gate: Callgate | AsyncCallgate, context: ContextOf | None = None
) -> AgentMiddleware[Any, Any, Any]:
    """Middleware that asks the gate before each tool call of an agent.

    `context(request)` gives the conversation of a call; without it, that is the thread of the graph
    (`configurable.thread_id`), or what `gate.conversation` says. The call id is the model's. A call
    that does not run becomes a `ToolMessage` with the refusal, and its `artifact` is the `Refused`.
    A tool that interrupts the graph is begun again when the graph goes on.
    """
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolMessage

    class GateMiddleware(AgentMiddleware[Any, Any, Any]):
        def wrap_tool_call(
            self, request: ToolCallRequest, handler: Handler
        ) -> ToolMessage | Command[Any]:
            for call in _attempts(request, handler, context):
                answer = gate.guard.run_tool(call)
                if not (isinstance(answer, Refused) and answer.is_over):
                    break
            return _message(request, answer, ToolMessage)

        async def awrap_tool_call(
            self, request: ToolCallRequest, handler: AsyncHandler
        ) -> ToolMessage | Command[Any]:
            for call in _attempts(request, handler, context):
                answer = await gate.guard.run_tool_async(call)
                if not (isinstance(answer, Refused) and answer.is_over):
                    break
            return _message(request, answer, ToolMessage)

    return GateMiddleware()


def _attempts(
    request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any], context: ContextOf | None
) -> Iterator[ToolCall]:
    """A call that did not run is over for the gate: begun again, it is another call."""
    from langgraph.errors import GraphBubbleUp

    tool_call = request.tool_call
    arguments = tool_call["args"]
    called = (context or _context_of)(request)
    call_id = called.call_id or tool_call["id"]

    def start(decided: Any, _: Any) -> Any:
        if arguments == decided:
            return handler(request)
        return handler(request.override(tool_call={**tool_call, "args": dict(decided)}))

    for attempt in range(1, ATTEMPTS_MAX + 1):
        name = call_id if attempt == 1 or call_id is None else f"{call_id}~{attempt}"
        yield ToolCall(
            tool=tool_call["name"],
            arguments=arguments,
            context=replace(called, call_id=name),
            start=start,
            output_of=_output_of,
            is_interrupt=lambda error: isinstance(error, GraphBubbleUp),
        )


def _context_of(request: ToolCallRequest) -> CallContext:
    """The thread of the graph, and the model's message that the call is part of."""
    config = getattr(request.runtime, "config", None) or {}
    thread = config.get("configurable", {}).get("thread_id")
    state = request.state
    messages = state.get("messages", []) if isinstance(state, dict) else []
    step = getattr(messages[-1], "id", None) if messages else None
    return CallContext(conversation_id=None if thread is None else str(thread), step=step)


def _output_of(value: Any) -> object:
    """Of a message its content is journaled; a command has nothing that a later call could get."""
    return value.content if hasattr(value, "content") else value


def _message(
    request: ToolCallRequest, answer: WrappedAnswer[Any] | Refused, make: type[ToolMessage]
) -> ToolMessage | Command[Any]:
    call_id, name = request.tool_call["id"] or "", request.tool_call["name"]
    if isinstance(answer, Refused):
        status: Any = "error" if answer.outcome == "refused" else "success"
        return make(
            content=answer.to_model(),
            tool_call_id=call_id,
            name=name,
            status=status,
            artifact=answer,
        )
    said = [*([] if answer.note is None else [answer.note])]
    said += [warning.message for warning in answer.warnings]
    if answer.duplicate:
        return make(content=_with_notes(answer.output, said), tool_call_id=call_id, name=name)
    output: ToolMessage | Command[Any] = answer.output
    if not said or not isinstance(output, make):
        return output
    return output.model_copy(update={"content": _with_notes(output.content, said)})


def _with_notes(content: Any, said: list[str]) -> Any:
    if not said:
        return content
    note = f"{NOTE_BEGINS}{' '.join(said)}]"
    if isinstance(content, list):
        return [*content, {"type": "text", "text": note.strip()}]
    return f"{content}{note}"
