"""Gated tools in a real agent of OpenAI's SDK whose model says what the test scripts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.items import ToolCallOutputItem
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from callgate import AsyncCallgate, CallContext, Callgate, CallgateError
from callgate.openai_agents import gate_tools

RUNS: list[str] = []
OFFLINE = RunConfig(tracing_disabled=True)


class ScriptedModel(Model):
    def __init__(self, *said: tuple[str, str, str]) -> None:
        self._said: Iterator[tuple[str, str, str]] = iter(said)

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        call = next(self._said, None)
        return ModelResponse(
            output=[_done() if call is None else _call(*call)], usage=Usage(), response_id=None
        )

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError("the tests do not stream")


def _call(call_id: str, name: str, arguments: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call", call_id=call_id, name=name, arguments=arguments
    )


def _done() -> ResponseOutputMessage:
    text = ResponseOutputText(type="output_text", text="done", annotations=[])
    return ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[text]
    )


@function_tool
def charge_card(order_id: str) -> str:
    RUNS.append(f"charge {order_id}")
    return f"receipt of {order_id}"


@function_tool
async def get_order(order_id: str) -> dict[str, str]:
    RUNS.append(f"read {order_id}")
    return {"order": order_id}


@function_tool
def save(name: str) -> str:
    raise ConnectionError("the line broke")


async def outputs(
    gate: Callgate | AsyncCallgate, *said: tuple[str, str, str], **options: Any
) -> list[Any]:
    RUNS.clear()
    tools = gate_tools(gate, [charge_card, get_order, save], **options)
    agent = Agent(name="shop", tools=list(tools), model=ScriptedModel(*said))
    result = await Runner.run(agent, "pay order 7", run_config=OFFLINE)
    return [one.output for one in result.new_items if isinstance(one, ToolCallOutputItem)]


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_duplicate_is_refused_and_a_read_is_answered(
    kind: str, gate: Callgate, async_gate: AsyncCallgate, conversation: str
) -> None:
    client = gate if kind == "sync" else async_gate
    with client.conversation(conversation):
        paid, refused, read, memory = await outputs(
            client,
            ("a", "charge_card", '{"order_id": "7"}'),
            ("b", "charge_card", '{"order_id": "7"}'),
            ("c", "get_order", '{"order_id": "9"}'),
            ("d", "get_order", '{"order_id": "9"}'),
        )
    assert RUNS == ["charge 7", "read 9"]
    assert paid == "receipt of 7"
    assert refused.startswith("You already made this exact call and it succeeded")
    assert read == {"order": "9"}
    assert memory.startswith('{"order": "9"}\n\n[Gate: This tool call was already made')


async def test_the_conversation_may_come_from_the_run(gate: Callgate, conversation: str) -> None:
    seen: list[str] = []

    def context(tool_context: Any) -> CallContext:
        seen.append(tool_context.tool_name)
        return CallContext(conversation_id=f"{conversation}-run")

    [paid] = await outputs(gate, ("a", "charge_card", '{"order_id": "7"}'), context=context)
    assert paid == "receipt of 7" and seen == ["charge_card"]
    decision = gate.propose("charge_card", {"order_id": "7"}, conversation_id=f"{conversation}-run")
    assert decision.outcome == "refused"


async def test_the_error_text_of_a_tool_is_a_failure(gate: Callgate) -> None:
    said, again = await outputs(gate, ("a", "save", '{"name": "x"}'), ("b", "save", '{"name": "x"}'))
    assert said.startswith("An error occurred while running the tool")
    assert again == said, "a failed call may be tried again"


async def test_arguments_that_cannot_be_read_are_refused(gate: Callgate) -> None:
    [refused] = await outputs(gate, ("a", "charge_card", '{"order_id": '))
    assert "could not be read" in refused and RUNS == []


def test_only_function_tools_can_be_gated(gate: Callgate) -> None:
    assert isinstance(gate_tools(gate, [charge_card])[0], FunctionTool)
    assert gate_tools(gate, [charge_card])[0] is not charge_card
    with pytest.raises(CallgateError, match="no FunctionTool"):
        gate_tools(gate, [len])  # type: ignore[list-item]
