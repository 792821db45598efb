"""Proposals, reports, waits and verdicts through both clients, against a real server."""

from __future__ import annotations

import threading

import pytest

from callgate import AsyncCallgate, Callgate, CallgateError, Money
from gate_server import GateServer


def test_propose_allows_a_call_and_returns_the_recorded_decision_again(gate: Callgate) -> None:
    first = gate.propose("charge_card", {"order_id": "7"}, call_id="a")
    again = gate.propose("charge_card", {"order_id": "7"}, call_id="a")
    assert first.outcome == "allowed" and again.outcome == "allowed"
    assert (first.repeated, again.repeated) == (False, True)
    assert first.decision_id == again.decision_id
    assert first.idempotency_key == again.idempotency_key


def test_propose_refuses_a_duplicate(gate: Callgate) -> None:
    first = gate.propose("charge_card", {"order_id": "7", "amount": "10.00"})
    assert first.outcome == "allowed"
    assert gate.report(first.decision_id, "succeeded", output={"receipt": "r1"}).recorded
    again = gate.propose("charge_card", {"order_id": "7", "amount": "10.00"})
    assert again.outcome == "refused"
    assert again.refusal.reason == "duplicate_call"
    assert again.refusal.previous_result is not None


def test_propose_takes_json_text_and_large_integers(gate: Callgate) -> None:
    text = gate.propose("save", '{"name": "a", "size": 1}')
    assert text.outcome == "allowed" and text.arguments == {"name": "a", "size": 1}
    assert gate.propose("count", {"size": 2**53 - 1}).outcome == "allowed"
    changed = gate.propose("count", {"size": 2**60 + 1})
    assert changed.outcome == "refused" and "would change as a double" in changed.refusal.message


def test_propose_refuses_malformed_arguments_so_that_the_model_hears_of_it(gate: Callgate) -> None:
    decision = gate.propose("save", '{"name": ')
    assert decision.outcome == "refused"
    assert decision.refusal.reason == "malformed" and decision.arguments is None


def test_propose_sends_what_a_platform_says(server: GateServer, gate: Callgate) -> None:
    cost = Money(micro_units=1_500_000, currency="USD")
    with gate.conversation(turn=1, step=2, agent_id="planner"):
        assert gate.propose("save", {"name": "a"}, estimated_cost=cost).outcome == "allowed"
    with Callgate(server.url) as anyone, pytest.raises(CallgateError) as caught:
        anyone.propose("save", {"name": "a"}, conversation_id="c", turn=1)
    assert (caught.value.code, caught.value.status) == ("platform_only", 403)
    assert caught.value.remedy and caught.value.at == "body.turn"


@pytest.mark.parametrize("arguments", [{"a": float("nan")}, {"a": {1}}, {1: "a"}, {"a": object()}])
def test_propose_raises_for_arguments_that_are_no_plain_data(gate: Callgate, arguments: object) -> None:
    with pytest.raises(CallgateError, match="invalid_input"):
        gate.propose("save", arguments)


def test_a_call_needs_a_conversation(server: GateServer) -> None:
    with Callgate(server.url) as gate, pytest.raises(CallgateError, match=r"gate\.conversation"):
        gate.propose("save", {})


def test_report_says_whether_it_changed_anything(gate: Callgate) -> None:
    decision = gate.propose("save", {"name": "a"})
    assert decision.decision_id is not None
    error = ConnectionError("the disk is gone")
    outcome = gate.report(decision.decision_id, "failed", error=error, effect="none", duration_ms=3)
    assert outcome.recorded and outcome.status == "failed"
    again = gate.report(decision.decision_id, "succeeded")
    assert (again.recorded, again.why) == (False, "already_reported")
    with pytest.raises(CallgateError, match="invalid_input"):
        gate.report(decision.decision_id, "succeeded", effect="none")
    with pytest.raises(CallgateError) as caught:
        gate.report("unheard-of", "succeeded")
    assert caught.value.status == 404


def test_result_returns_how_a_call_ended(gate: Callgate) -> None:
    decision = gate.propose("save", {"name": "a"})
    assert decision.decision_id is not None
    assert gate.result(decision.decision_id) is None
    later = threading.Timer(0.1, gate.report, (decision.decision_id, "succeeded"), {"output": {"n": 1}})
    later.start()
    result = gate.result(decision.decision_id, timeout=30)
    later.join()
    assert result is not None
    assert (result.status, result.output, result.whole) == ("succeeded", {"n": 1}, True)


def test_a_person_approves_a_held_call(gate: Callgate, approver: Callgate, conversation: str) -> None:
    held = gate.propose("refund_payment", {"order_id": "7"}, call_id="r1")
    assert held.outcome == "held"
    [waiting] = approver.pending(conversation_id=conversation)
    assert waiting.approval_id == held.approval_id and waiting.arguments == {"order_id": "7"}
    shown = approver.approval(held.approval_id)
    assert shown.state == "waiting" and shown.decision is None
    with pytest.raises(CallgateError) as caught:
        approver.approve(held.approval_id)
    assert caught.value.code == "reason_required" and caught.value.remedy
    with pytest.raises(CallgateError, match="timeout"):
        gate.wait_decision(held.decision_id, timeout=0)
    later = threading.Timer(0.1, approver.approve, (held.approval_id,), {"reason": "it came back"})
    later.start()
    decision = gate.wait_decision(held.decision_id, timeout=30)
    later.join()
    assert decision.outcome == "allowed"
    with pytest.raises(CallgateError) as again:
        approver.deny(held.approval_id)
    assert (again.value.code, again.value.status) == ("already_decided", 409)


def test_a_person_approves_further_calls_or_denies(gate: Callgate, approver: Callgate) -> None:
    first = gate.propose("delete_customer", {"customer_id": "a"})
    assert first.outcome == "held"
    approver.approve(first.approval_id, further_calls=1)
    assert gate.propose("delete_customer", {"customer_id": "b"}).outcome == "allowed"
    third = gate.propose("delete_customer", {"customer_id": "c"})
    assert third.outcome == "held"
    denied = approver.deny(third.approval_id, reason="no")
    assert denied.outcome == "refused" and denied.refusal.reason == "approval_denied"


def test_propose_waits_for_the_verdict(gate: Callgate, approver: Callgate, conversation: str) -> None:
    def approve() -> None:
        while not (held := approver.pending(conversation_id=conversation)):
            pass
        approver.approve(held[0].approval_id)

    person = threading.Thread(target=approve)
    person.start()
    assert gate.propose("delete_customer", {"customer_id": "a"}, wait=30).outcome == "allowed"
    person.join()


def test_an_ended_conversation_is_resumed(
    gate: Callgate, approver: Callgate, conversation: str
) -> None:
    gate.propose("save", {"name": "a"})
    assert approver.end_conversation(conversation, reason="the customer left").taken
    assert gate.propose("save", {"name": "b"}).outcome == "refused"
    assert approver.resume(conversation).taken
    assert gate.propose("save", {"name": "c"}).outcome == "allowed"


async def test_the_asynchronous_client_does_the_same(
    async_gate: AsyncCallgate, approver: Callgate, conversation: str
) -> None:
    gate = async_gate
    with gate.conversation(conversation):
        decision = await gate.propose("save", {"name": "a"})
        assert decision.outcome == "allowed"
        assert (await gate.report(decision.decision_id, "succeeded", output="done")).recorded
        result = await gate.result(decision.decision_id)
        assert result is not None and result.output == "done"
        held = await gate.propose("delete_customer", {"customer_id": "a"})
        assert held.outcome == "held"
        assert [one.approval_id for one in await gate.pending(conversation_id=conversation)] == [
            held.approval_id
        ]
        assert (await gate.approval(held.approval_id)).state == "waiting"
        approver.deny(held.approval_id)
        assert (await gate.wait_decision(held.decision_id)).outcome == "refused"
        with pytest.raises(CallgateError) as caught:
            await gate.approve(held.approval_id)
        assert caught.value.code == "role_missing"
