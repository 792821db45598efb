"""The middleware in a real LangChain agent whose model says what the test scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from callgate import AsyncCallgate, CallContext, Callgate, CallgateError, Refused
from callgate.langchain import gate_middleware

RUNS: list[str] = []


class ScriptedModel(FakeMessagesListChatModel):
    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:  # type: ignore[override]
        return self


@tool
def charge_card(order_id: str) -> str:
    """Charges the card of an order."""
    RUNS.append(f"charge {order_id}")
    return f"receipt of {order_id}"


@tool
def get_order(order_id: str) -> str:
    """Shows an order."""
    RUNS.append(f"read {order_id}")
    return f"order {order_id}"


@tool
def delete_customer(customer_id: str) -> str:
    """Deletes a customer."""
    RUNS.append(f"delete {customer_id}")
    return "deleted"


@tool
def save(name: str) -> str:
    """Saves a file, after a question."""
    answer = interrupt({"sure?": name})
    RUNS.append(f"save {name}: {answer}")
    return f"saved {answer}"


TOOLS = [charge_card, get_order, delete_customer, save]


def calls(*made: tuple[str, str, dict[str, Any]]) -> AIMessage:
    tool_calls = [ToolCall(id=call_id, name=name, args=args) for call_id, name, args in made]
    return AIMessage(content="", tool_calls=tool_calls)


def agent_of(gate: Callgate | AsyncCallgate, *said: AIMessage, **options: Any) -> Any:
    RUNS.clear()
    model = ScriptedModel(responses=[*said, AIMessage(content="done")])
    middleware = [gate_middleware(gate, **options)]
    return create_agent(model, TOOLS, middleware=middleware, checkpointer=InMemorySaver())


def thread(conversation: str) -> RunnableConfig:
    return {"configurable": {"thread_id": conversation}}


def answers(result: dict[str, Any]) -> list[ToolMessage]:
    messages: list[BaseMessage] = result["messages"]
    return [one for one in messages if isinstance(one, ToolMessage)]


QUESTION = {"messages": [{"role": "user", "content": "pay order 7"}]}


def test_a_duplicate_is_refused_and_a_read_is_answered(gate: Callgate, conversation: str) -> None:
    agent = agent_of(
        gate,
        calls(("a", "charge_card", {"order_id": "7"}), ("b", "get_order", {"order_id": "9"})),
        calls(("c", "charge_card", {"order_id": "7"})),
        calls(("d", "get_order", {"order_id": "9"})),
    )
    paid, read, refused, memory = answers(agent.invoke(QUESTION, thread(conversation)))
    assert sorted(RUNS) == ["charge 7", "read 9"]
    assert (paid.content, paid.status) == ("receipt of 7", "success")
    assert read.content == "order 9"
    assert isinstance(refused.artifact, Refused) and refused.status == "error"
    assert refused.content == refused.artifact.to_model()
    assert str(memory.content).startswith("order 9\n\n[Gate: This tool call was already made")


async def test_an_asynchronous_agent_does_the_same(
    gate: Callgate, async_gate: AsyncCallgate, conversation: str
) -> None:
    for client in (gate, async_gate):
        name = f"{conversation}-{type(client).__name__}"
        agent = agent_of(
            client,
            calls(("a", "charge_card", {"order_id": "7"})),
            calls(("c", "charge_card", {"order_id": "7"})),
        )
        paid, refused = answers(await agent.ainvoke(QUESTION, thread(name)))
        assert RUNS == ["charge 7"]
        assert paid.content == "receipt of 7" and isinstance(refused.artifact, Refused)


def test_a_held_call_runs_when_a_person_has_approved_it(
    gate: Callgate, approver: Callgate, conversation: str
) -> None:
    agent = agent_of(gate, calls(("a", "delete_customer", {"customer_id": "ann"})))
    [held] = answers(agent.invoke(QUESTION, thread(conversation)))
    assert isinstance(held.artifact, Refused) and held.artifact.approval_id is not None
    assert held.status == "success" and RUNS == []
    approver.approve(held.artifact.approval_id)
    under = CallContext(conversation_id=conversation, approval_id=held.artifact.approval_id)
    again = agent_of(
        gate, calls(("b", "delete_customer", {"customer_id": "ann"})), context=lambda _: under
    )
    [deleted] = answers(again.invoke(QUESTION, thread(f"{conversation}-2")))
    assert deleted.content == "deleted" and RUNS == ["delete ann"]


def test_a_tool_that_interrupts_the_graph_is_begun_again(gate: Callgate, conversation: str) -> None:
    agent = agent_of(gate, calls(("a", "save", {"name": "x"})))
    config = thread(conversation)
    stopped = agent.invoke(QUESTION, config)
    assert stopped["__interrupt__"][0].value == {"sure?": "x"}
    assert RUNS == []
    [saved] = answers(agent.invoke(Command(resume="yes"), config))
    assert saved.content == "saved yes" and RUNS == ["save x: yes"]


def test_an_exception_of_a_tool_is_reported(gate: Callgate, conversation: str) -> None:
    @tool
    def charge_card(order_id: str) -> str:
        """Fails."""
        raise ConnectionError("the line broke")

    model = ScriptedModel(responses=[calls(("a", "charge_card", {"order_id": "7"}))])
    agent = create_agent(model, [charge_card], middleware=[gate_middleware(gate)])
    with pytest.raises(ConnectionError):
        agent.invoke(QUESTION)
    decision = gate.propose("charge_card", {"order_id": "7"}, call_id="a2")
    assert decision.outcome == "allowed", "a failure may be tried again"


def test_the_asynchronous_client_cannot_decide_for_a_plain_agent(
    server: Any, conversation: str
) -> None:
    agent = agent_of(AsyncCallgate(server.url), calls(("a", "charge_card", {"order_id": "7"})))
    with pytest.raises(CallgateError, match="use `Callgate`"):
        agent.invoke(QUESTION, thread(conversation))
