"""The table of outcomes of guarded functions, against a real server."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date

import pytest
from pydantic import BaseModel

from callgate import (
    Callgate,
    CallgateError,
    Decision,
    HandlerCall,
    Refused,
    WrappedAnswer,
    current_call,
    is_refused,
    no_effect,
    was_answered,
)
from gate_server import GateServer


def stored(gate: Callgate, decision_id: str | None) -> tuple[str, str | None]:
    assert decision_id is not None
    result = gate.result(decision_id, timeout=30)
    assert result is not None
    return result.status, result.effect


class Shop:
    """Counts the effects itself."""

    def __init__(self, gate: Callgate) -> None:
        self.charged: list[tuple[str, str]] = []
        self.keys: list[str] = []
        self.read = 0
        self.decisions: list[Decision] = []
        guard = gate.guard(on_decision=lambda decision, _: self.decisions.append(decision))

        @guard
        def charge_card(call: HandlerCall, order_id: str, amount: str = "1.00") -> dict[str, str]:
            self.charged.append((order_id, amount))
            self.keys.append(call.idempotency_key)
            return {"receipt": order_id}

        @guard
        def get_order(order_id: str) -> dict[str, str]:
            self.read += 1
            return {"order": order_id}

        self.charge_card = charge_card
        self.get_order = get_order


@pytest.fixture
def shop(gate: Callgate) -> Shop:
    return Shop(gate)


def test_a_call_that_may_run_returns_its_result_once_it_is_journaled(
    gate: Callgate, shop: Shop
) -> None:
    assert shop.charge_card("7", amount="2.00") == {"receipt": "7"}
    assert shop.charged == [("7", "2.00")]
    assert stored(gate, shop.decisions[0].decision_id) == ("succeeded", None)


def test_a_refused_call_does_not_run_and_returns_refused(shop: Shop) -> None:
    shop.charge_card("7")
    again = shop.charge_card("7")
    assert isinstance(again, Refused) and is_refused(again)
    assert not again
    assert (again.outcome, again.reason, again.tool) == ("refused", "duplicate_call", "charge_card")
    assert again.to_json() == {
        "refused": True,
        "reason": "duplicate_call",
        "callId": again.call_id,
        "message": again.to_model(),
    }
    assert str(again) == again.to_model() and len(again.to_model()) <= 700
    assert len(shop.charged) == 1


def test_a_refusal_is_raised_where_that_is_asked_for(gate: Callgate) -> None:
    @gate.guard(on_refused="raise", name="charge_card")
    def charge(order_id: str) -> str:
        return "ok"

    assert charge("7") == "ok"
    with pytest.raises(CallgateError) as caught:
        charge("7")
    assert caught.value.code == "refused"
    assert caught.value.refused is not None and caught.value.refused.reason == "duplicate_call"


def test_a_default_is_an_argument(shop: Shop) -> None:
    shop.charge_card("7")
    assert is_refused(shop.charge_card("7", "1.00"))


def test_a_repeated_read_is_answered_from_memory_and_marked(gate: Callgate, shop: Shop) -> None:
    first = shop.get_order("7")
    again = shop.get_order("7")
    assert first == again == {"order": "7"}
    assert json.dumps(again) == '{"order": "7"}'
    assert (was_answered(first), was_answered(again), shop.read) == (False, True, 1)

    @gate.guard
    def get_text(name: str) -> str:
        return "[1, 2]"

    @gate.guard
    def list_rows() -> list[int]:
        return [1, 2]

    assert get_text("a") == "[1, 2]"
    noted = get_text("a")
    assert isinstance(noted, str) and noted.startswith(
        "[1, 2]\n\n[Gate: This tool call was already made"
    )
    assert was_answered(noted)
    assert list_rows() == list_rows() == [1, 2]


def test_an_answer_may_be_wrapped_or_bare(gate: Callgate) -> None:
    @gate.guard(answers="wrapped")
    def get_text(name: str) -> str:
        return "text"

    first, again = get_text("a"), get_text("a")
    assert isinstance(first, WrappedAnswer) and isinstance(again, WrappedAnswer)
    assert (first.output, first.duplicate, first.note) == ("text", False, None)
    assert (again.output, again.duplicate) == ("text", True)
    assert again.note is not None and again.note.endswith("This is its earlier result.")

    @gate.guard(answers="bare", name="get_order")
    def get_plain(order_id: str) -> str:
        return "text"

    assert get_plain("a") == get_plain("a") == "text"


def test_an_exception_is_raised_and_reported_as_possibly_effective(gate: Callgate, shop: Shop) -> None:
    keys: list[str] = []

    @gate.guard(on_decision=lambda decision, _: shop.decisions.append(decision))
    def charge_card(call: HandlerCall, order_id: str) -> str:
        keys.append(call.idempotency_key)
        if len(keys) == 1:
            raise ConnectionResetError("the line broke")
        return "paid"

    with pytest.raises(ConnectionResetError, match="the line broke"):
        charge_card("7")
    assert stored(gate, shop.decisions[0].decision_id) == ("failed", "possible")
    assert charge_card("7") == "paid"
    assert keys[0] == keys[1], "a retry keeps its key"


class StatusError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status_code = status


@pytest.mark.parametrize(
    "error", [no_effect(ValueError("declined")), no_effect("declined"), StatusError(402)]
)
def test_a_failure_without_effect_is_reported_so(gate: Callgate, shop: Shop, error: Exception) -> None:
    keys: list[str] = []

    @gate.guard(on_decision=lambda decision, _: shop.decisions.append(decision))
    def charge_card(call: HandlerCall, order_id: str) -> str:
        keys.append(call.idempotency_key)
        raise error

    for _ in range(2):
        with pytest.raises(type(error)):
            charge_card("7")
    assert stored(gate, shop.decisions[0].decision_id) == ("failed", "none")
    assert keys[0] != keys[1], "a new call gets a new key"


@pytest.mark.parametrize("status", [408, 409, 425, 500])
def test_a_status_that_may_hide_an_effect_is_possible(gate: Callgate, shop: Shop, status: int) -> None:
    @gate.guard(on_decision=lambda decision, _: shop.decisions.append(decision))
    def charge_card(order_id: str) -> str:
        raise StatusError(status)

    with pytest.raises(StatusError):
        charge_card("7")
    assert stored(gate, shop.decisions[0].decision_id) == ("failed", "possible")


@pytest.mark.parametrize(
    ("output", "effect"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "no"}]}, "possible"),
        ({"success": False, "error": "no"}, "possible"),
        ({"ok": False, "status": 404}, "none"),
        ("An error occurred while running the tool. Please try again.", "possible"),
    ],
)
def test_a_returned_failure_is_returned_and_reported(
    gate: Callgate, shop: Shop, output: object, effect: str
) -> None:
    @gate.guard(on_decision=lambda decision, _: shop.decisions.append(decision))
    def save(name: str) -> object:
        return output

    assert save("a") == output
    assert stored(gate, shop.decisions[0].decision_id) == ("failed", effect)


def test_a_held_call_returns_and_runs_under_its_approval(gate: Callgate, approver: Callgate) -> None:
    @gate.guard
    def delete_customer(customer_id: str) -> str:
        return f"deleted {customer_id}"

    held = delete_customer("a")
    assert isinstance(held, Refused) and held.outcome == "held" and held.approval_id is not None
    approver.approve(held.approval_id)
    again = delete_customer.with_options(approval_id=held.approval_id)
    assert again("a") == "deleted a"
    repeated = delete_customer.with_options(call_id=held.call_id)("a")
    assert repeated == "deleted a\n\n[Gate: ]" or str(repeated).startswith("deleted a")


def test_a_held_call_may_wait_for_its_verdict(
    gate: Callgate, approver: Callgate, conversation: str
) -> None:
    @gate.guard
    def delete_customer(customer_id: str) -> str:
        return f"deleted {customer_id}"

    def decide(verdict: str) -> None:
        while not (held := approver.pending(conversation_id=conversation)):
            time.sleep(0.02)
        getattr(approver, verdict)(held[0].approval_id)

    for verdict, answered in (("approve", True), ("deny", False)):
        person = threading.Thread(target=decide, args=(verdict,))
        person.start()
        with gate.conversation(on_held="wait"):
            answer = delete_customer(verdict)
        person.join()
        assert is_refused(answer) is not answered


def test_the_same_call_id_gets_the_same_answer_and_runs_a_write_once(shop: Shop) -> None:
    call = shop.charge_card.with_options(call_id="k1")
    first, again = call("7"), call("7")
    assert first == again == {"receipt": "7"}
    assert was_answered(again) and len(shop.charged) == 1


def test_another_process_gets_the_result_or_a_refusal(
    server: GateServer, platform_token: str, gate: Callgate, conversation: str
) -> None:
    begun, go_on, runs = threading.Event(), threading.Event(), []

    def save(name: str) -> str:
        runs.append(name)
        begun.set()
        assert go_on.wait(30)
        return "saved"

    with Callgate(server.url, platform_token) as other, ThreadPoolExecutor(1) as threads:
        mine = gate.guard(save).with_options(call_id="k1", conversation_id=conversation)
        theirs = other.guard(save).with_options(call_id="k1", conversation_id=conversation)
        running = threads.submit(mine, "a")
        assert begun.wait(30)
        meanwhile = theirs("a")
        assert isinstance(meanwhile, Refused) and meanwhile.reason == "outcome_unknown"
        go_on.set()
        assert running.result(30) == "saved"
        after = theirs("a")
        assert isinstance(after, str) and after.startswith("saved")
    assert runs == ["a"]


def test_threads_that_make_one_call_get_one_run(gate: Callgate, conversation: str) -> None:
    runs: list[str] = []

    @gate.guard
    def save(name: str) -> str:
        runs.append(name)
        time.sleep(0.1)
        return "saved"

    call = save.with_options(call_id="k1", conversation_id=conversation)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(call, ["a"] * 8))
    assert runs == ["a"]
    assert {str(one)[:5] for one in answers} == {"saved"}


def test_an_exception_of_an_earlier_run_is_raised_again(
    server: GateServer, platform_token: str, gate: Callgate, conversation: str
) -> None:
    def save(name: str) -> str:
        raise no_effect(StatusError(404))

    with pytest.raises(StatusError):
        gate.guard(save).with_options(call_id="k1")("a")
    with Callgate(server.url, platform_token) as other, pytest.raises(RuntimeError, match="HTTP 404"):
        other.guard(save).with_options(call_id="k1", conversation_id=conversation)("a")


def test_writes_of_a_conversation_run_one_after_the_other(gate: Callgate, conversation: str) -> None:
    now, most = [0], [0]

    @gate.guard
    def save(name: str) -> str:
        now[0] += 1
        most[0] = max(most[0], now[0])
        time.sleep(0.05)
        now[0] -= 1
        return name

    def in_steps(one: int) -> object:
        with gate.conversation(conversation, turn=1, step=one):
            return save(f"f{one}")

    def in_one_step(one: int) -> object:
        with gate.conversation(conversation, turn=2, step="all"):
            return save(f"g{one}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(in_steps, range(4)))
        assert most == [1]
        list(threads.map(in_one_step, range(4)))
    assert most[0] > 1


def test_a_write_may_make_another_write(gate: Callgate) -> None:
    @gate.guard(name="save")
    def inner(name: str) -> str:
        return "inner"

    @gate.guard(name="charge_card")
    def outer(order_id: str) -> str:
        return f"outer {inner('a')}"

    assert outer("7") == "outer inner"


def test_the_time_limit_reports_unknown_and_a_late_success_settles(gate: Callgate, shop: Shop) -> None:
    cancelled: list[bool] = []

    @gate.guard(on_decision=lambda decision, _: shop.decisions.append(decision))
    def slow(call: HandlerCall, name: str) -> str:
        cancelled.append(call.cancelled.wait(10))
        decision_id = call.decision_id
        while (result := gate.result(decision_id)) is None or result.status != "unknown":
            time.sleep(0.02)
        if name == "fails":
            raise ConnectionError("late")
        return "late"

    assert slow("a") == "late"
    assert cancelled == [True]
    assert stored(gate, shop.decisions[0].decision_id)[0] == "succeeded"
    with pytest.raises(CallgateError, match="time_limit") as caught:
        slow("fails")
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert stored(gate, shop.decisions[1].decision_id)[0] == "unknown"


def test_an_interrupted_function_is_unknown(gate: Callgate, shop: Shop) -> None:
    @gate.guard(on_decision=lambda decision, _: shop.decisions.append(decision))
    def save(name: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save("a")
    assert stored(gate, shop.decisions[0].decision_id)[0] == "unknown"


def test_the_key_argument_reaches_the_function(gate: Callgate) -> None:
    @gate.guard
    def pay(call: HandlerCall, to: str, options: dict[str, str] | None = None) -> bool:
        return options is not None and options["key"] == call.idempotency_key

    assert pay("ann", {"key": "the model's"}) is True
    assert pay("bob") is True


class Order(BaseModel):
    id: str
    on: date


@dataclass
class Amount:
    value: str


def test_functions_keep_their_own_objects(gate: Callgate) -> None:
    seen: list[object] = []

    @gate.guard
    def save(name: str, order: Order, amount: Amount, *rest: int, **more: str) -> str:
        seen.append((order, amount, rest, more))
        return name

    order, amount = Order(id="7", on=date(2026, 1, 2)), Amount("1")
    assert save("a", order, amount, 1, 2, extra="x") == "a"
    assert seen[0] == (order, amount, (1, 2), {"extra": "x"})
    text = json.dumps(
        {"name": "b", "order": {"id": "7", "on": "2026-01-02"}, "amount": {"value": "1"}, "extra": "x"}
    )
    assert save.call_json(text) == "b"
    assert seen[1] == (order, amount, (), {"extra": "x"})


def test_arguments_that_do_not_fit_fail_without_effect(gate: Callgate, shop: Shop) -> None:
    @gate.guard(on_decision=lambda decision, _: shop.decisions.append(decision))
    def save(name: str) -> str:
        return name

    with pytest.raises(CallgateError, match="no parameter `nam`"):
        save.call_json({"nam": "a"})
    assert stored(gate, shop.decisions[0].decision_id) == ("failed", "none")
    with pytest.raises(TypeError):
        save()  # type: ignore[call-arg]


def test_methods_are_guarded_without_their_instance(gate: Callgate) -> None:
    class Files:
        def __init__(self, root: str) -> None:
            self.root = root

        @gate.guard
        def save(self, name: str) -> str:
            return f"{self.root}/{name}"

        def load(self, name: str) -> str:
            return f"{self.root}/{name}"

    assert Files("a").save("x") == "a/x"
    assert Files.save.call_json(Files("b"), {"name": "y"}) == "b/y"
    bound = gate.guard(name="save")(Files("d").load)
    assert bound.call_json({"name": "z"}) == "d/z"
    assert is_refused(Files("c").save("x"))


def test_an_output_that_json_cannot_restore_is_not_answered_from_memory(gate: Callgate) -> None:
    runs: list[str] = []

    @gate.guard
    def get_order(order_id: str) -> tuple[str, date]:
        runs.append(order_id)
        return order_id, date(2026, 1, 2)

    assert get_order("7") == get_order("7") == ("7", date(2026, 1, 2))
    assert runs == ["7", "7"]


def test_a_generator_runs_while_it_is_read(gate: Callgate, shop: Shop) -> None:
    guard = gate.guard(on_decision=lambda decision, _: shop.decisions.append(decision))

    @guard
    def save(name: str) -> Iterator[str]:
        assert current_call() is not None
        yield "a"
        yield "b"

    @guard(name="charge_card")
    def charge(order_id: str) -> Iterator[str]:
        yield "a"
        raise ValueError("no")

    assert list(save("x")) == ["a", "b"]
    assert current_call() is None
    result = gate.result(str(shop.decisions[0].decision_id))
    assert result is not None and (result.status, result.output) == ("succeeded", "b")
    [refused] = list(save("x"))
    assert is_refused(refused)
    closed = save("y")
    assert next(closed) == "a"
    closed.close()  # type: ignore[attr-defined]
    assert stored(gate, shop.decisions[-1].decision_id)[0] == "unknown"
    with pytest.raises(ValueError, match="no"):
        list(charge("7"))
    assert stored(gate, shop.decisions[-1].decision_id) == ("failed", "possible")


def test_a_write_that_waits_too_long_for_its_turn_is_not_run(gate: Callgate) -> None:
    ran: list[str] = []

    @gate.guard
    def save(name: str) -> Iterator[str]:
        yield name
        yield name

    @gate.guard
    def now(name: str) -> str:
        ran.append(name)
        return name

    stream = save("a")
    next(stream)
    late = now("b")
    assert isinstance(late, Refused) and late.reason == "gate_unavailable" and ran == []
    assert list(stream) == ["a"]
    assert now("c") == "c"


def test_what_a_listener_raises_changes_nothing(gate: Callgate) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a defect of the listener")

    @gate.guard(on_decision=fail)
    def save(name: str) -> str:
        return name

    assert save("a") == "a"


def test_what_cannot_be_guarded_is_an_error(gate: Callgate) -> None:
    with pytest.raises(CallgateError, match="cannot be guarded"):
        gate.guard(Shop)
    with pytest.raises(CallgateError, match="option of a call"):
        gate.guard(
            len,
        ).with_options(call="a")


def test_a_refusal_can_be_copied_and_an_error_pickled(shop: Shop) -> None:
    shop.charge_card("7")
    refused = shop.charge_card("7")
    assert pickle.loads(pickle.dumps(refused)) == refused
    error = pickle.loads(pickle.dumps(CallgateError("timeout", "late", "wait", status=503)))
    assert (error.code, error.detail, error.remedy, error.status) == ("timeout", "late", "wait", 503)
