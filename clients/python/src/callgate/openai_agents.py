"""Callgate for OpenAI's Agents SDK: `Agent(…, tools=gate_tools(gate, [charge_card]))`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .async_client import AsyncCallgate
from .client import Callgate
from .conversation import CallContext
from .errors import invalid_input
from .guard.guard import ToolCall
from .guard.present import NOTE_BEGINS, WrappedAnswer
from .refused import Refused

if TYPE_CHECKING:
    from agents import FunctionTool
    from agents.tool_context import ToolContext

ContextOf = Callable[[Any], CallContext]


def gate_tools(
    gate: Callgate | AsyncCallgate,
    tools: Iterable[FunctionTool],
    context: ContextOf | None = None,
) -> list[FunctionTool]:
    """The same function tools, each of which asks the gate before it runs.

    `context(tool_context)` gives the conversation of a call; without it, that is what
    `gate.conversation` says. The call id is the model's. For a call that does not run, the model
    reads the refusal. Raises `CallgateError` `invalid_input` for a tool that is no `FunctionTool`.
    """
    from agents import FunctionTool

    def gated(tool: FunctionTool) -> FunctionTool:
        if not isinstance(tool, FunctionTool):
            raise invalid_input(f"{tool!r} is no FunctionTool, so that it cannot be gated")
        invoke = tool.on_invoke_tool

        async def ask(tool_context: ToolContext[Any], arguments: str) -> Any:
            called = CallContext() if context is None else context(tool_context)
            call = ToolCall(
                tool=tool.name,
                arguments=arguments or "{}",
                context=replace(called, call_id=called.call_id or tool_context.tool_call_id),
                start=lambda decided, _: invoke(tool_context, _text(arguments, decided)),
                output_of=lambda value: value,
            )
            return _answer(await gate.guard.run_tool_async(call))

        asking = copy.copy(tool)
        asking.on_invoke_tool = ask
        return asking

    return [gated(tool) for tool in tools]


def _text(sent: str, decided: Any) -> str:
    """The text that the model wrote, unless the gate put something in."""
    return sent if json.loads(sent or "{}") == decided else json.dumps(decided)


def _answer(answer: WrappedAnswer[Any] | Refused) -> Any:
    if isinstance(answer, Refused):
        return answer.to_model()
    said = [*([] if answer.note is None else [answer.note])]
    said += [warning.message for warning in answer.warnings]
    if not said:
        return answer.output
    text = answer.output if isinstance(answer.output, str) else json.dumps(answer.output, default=str)
    return f"{text}{NOTE_BEGINS}{' '.join(said)}]"
