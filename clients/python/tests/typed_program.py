"""A program whose types mypy checks: guarded functions keep theirs, and may return `Refused`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import Any

from typing_extensions import assert_type

from callgate import AsyncCallgate, Callgate, HandlerCall, Refused, WrappedAnswer, is_refused

gate, async_gate = Callgate(), AsyncCallgate()


@gate.guard
def charge(call: HandlerCall, order_id: str, amount: int = 1) -> dict[str, str]:
    return {call.idempotency_key: order_id * amount}


@gate.guard
def read(order_id: str) -> list[int]:
    return [len(order_id)]


@async_gate.guard
async def send(to: str) -> float:
    return float(to)


@gate.guard(name="numbers")
def numbers(most: int) -> Generator[int, None, str]:
    yield most
    return "done"


@async_gate.guard
async def words(call: HandlerCall, most: int) -> AsyncGenerator[str, None]:
    yield call.call_id * most


@gate.guard(answers="wrapped")
def wrapped(order_id: str) -> int:
    return len(order_id)


assert_type(charge("7", amount=2), dict[str, str] | Refused)
assert_type(charge.with_options(call_id="a")("7"), dict[str, str] | Refused)
assert_type(charge.call_json('{"order_id": "7"}'), dict[str, str] | Refused)
assert_type(read("7"), list[int] | Refused)
assert_type(numbers(1), Generator[int | Refused, None, str | Refused])
assert_type(words(1), AsyncGenerator[str | Refused, None])
assert_type(wrapped("7"), WrappedAnswer[int] | Refused)


async def check_coroutine() -> None:
    assert_type(await send("7"), float | Refused)


answer = read("7")
if is_refused(answer):
    assert_type(answer.to_model(), str)
elif not isinstance(answer, Refused):
    assert_type(answer, list[int])

decision = gate.propose("read", {}, conversation_id="c")
if decision.outcome == "allowed":
    assert_type(decision.arguments, dict[str, Any])
elif decision.outcome == "held":
    assert_type(decision.approval_id, str)
else:
    assert_type(decision.refusal.message, str)

charge(7)  # type: ignore[arg-type]
charge("7", 1, 2)  # type: ignore[call-arg]
