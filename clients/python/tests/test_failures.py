"""Nothing but a decision of the gate lets a call run: lost answers, foreign answers, no server."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pytest

from callgate import AsyncCallgate, Callgate, CallgateError, Refused, no_effect
from callgate.failures import failure_of
from faulty_proxy import FaultyProxy, faulty_proxy, first
from gate_server import GateServer

JSON = {"content-type": "application/json"}
PROBLEM = {"content-type": "application/problem+json"}


@pytest.fixture
def proxy(server: GateServer) -> Iterator[FaultyProxy]:
    with faulty_proxy(server.url) as proxy:
        yield proxy


@pytest.fixture
def gate(proxy: FaultyProxy, platform_token: str, conversation: str) -> Iterator[Callgate]:
    with Callgate(proxy.url, platform_token, timeout=20) as gate, gate.conversation(conversation):
        yield gate


def call_ids(proxy: FaultyProxy) -> list[str]:
    return [json.loads(body)["callId"] for body in proxy.bodies("/v1/proposals")]


@pytest.mark.parametrize(
    "fault", ["lose", "refuse", (503, {}, b"busy"), (502, {}, b"<html>"), (429, {}, b"")]
)
def test_a_proposal_is_sent_again_under_its_call_id(
    gate: Callgate, proxy: FaultyProxy, fault: object
) -> None:
    proxy.fault = first(2, "/v1/proposals", fault)  # type: ignore[arg-type]
    decision = gate.propose("save", {"name": "a"})
    assert decision.outcome == "allowed"
    assert decision.repeated is (fault == "lose")
    assert len(call_ids(proxy)) == 3 and len(set(call_ids(proxy))) == 1


FOREIGN = [
    (200, JSON, b"{}"),
    (200, JSON, b'{"outcome": "allowed"}'),
    (200, JSON, b'{"decision": true}'),
    (200, {}, b"<html>welcome</html>"),
    (204, {}, b""),
    (302, {"location": "/elsewhere"}, b""),
    (500, PROBLEM, b'{"code": "internal_error", "detail": "a defect", "status": 500}'),
    (503, PROBLEM, b'{"code": "gate_unavailable", "detail": "restoring", "status": 503}'),
]


@pytest.mark.parametrize("answer", FOREIGN)
def test_an_answer_that_is_no_decision_allows_nothing(
    proxy: FaultyProxy, conversation: str, answer: tuple[int, dict[str, str], bytes]
) -> None:
    proxy.fault = lambda method, path: answer
    ran = False
    with Callgate(proxy.url, retries=1) as gate, gate.conversation(conversation):

        @gate.guard
        def save(name: str) -> None:
            nonlocal ran
            ran = True

        decision = gate.propose("save", {"name": "a"})
        assert decision.outcome == "refused"
        assert decision.refusal.reason == "gate_unavailable" and decision.refusal.problem
        refused = save("a")
        assert isinstance(refused, Refused) and refused.reason == "gate_unavailable"
        assert refused.decision_id is None
    assert not ran


def test_an_answer_for_another_client_raises(gate: Callgate, proxy: FaultyProxy) -> None:
    answer = {
        "code": "role_missing",
        "detail": "no",
        "remedy": "ask",
        "at": "body.x",
        "requestId": "r-1",
    }
    proxy.fault = lambda method, path: (403, PROBLEM, json.dumps(answer).encode())
    with pytest.raises(CallgateError) as caught:
        gate.propose("save", {"name": "a"})
    error = caught.value
    assert (error.code, error.detail, error.remedy, error.at) == ("role_missing", "no", "ask", "body.x")
    assert (error.status, error.request_id) == (403, "r-1")
    assert len(proxy.requests) == 1


async def test_a_gate_that_is_not_there_refuses(conversation: str) -> None:
    nowhere = "http://127.0.0.1:9"
    with Callgate(nowhere, retries=1) as gate, gate.conversation(conversation):
        decision = gate.propose("save", {"name": "a"}, call_id="k1")
        assert decision.outcome == "refused" and decision.refusal.resolution.type == "retry_after"
        assert decision.call_id == "k1"
        with pytest.raises(CallgateError) as caught:
            gate.pending()
        assert caught.value.code == "unreachable" and "callgate serve" in caught.value.remedy
        gate.close()
        closed = gate.propose("save", {"name": "a"})
        assert closed.outcome == "refused" and closed.refusal.detail == "closed"
    async with AsyncCallgate(nowhere, retries=1) as other:
        refused = await other.propose("save", {"name": "a"}, conversation_id=conversation)
        assert refused.outcome == "refused"


def test_a_wrong_token_is_an_error_and_no_refusal(server: GateServer, conversation: str) -> None:
    with Callgate(server.url, "cg_wrong") as gate, pytest.raises(CallgateError) as caught:
        gate.propose("save", {}, conversation_id=conversation)
    assert (caught.value.code, caught.value.status) == ("token_invalid", 401)


@pytest.mark.parametrize("url", ["localhost:8181", "ftp://127.0.0.1", "", "http://"])
def test_a_url_that_is_none_is_an_error(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGATE_URL", url or "nonsense")
    with pytest.raises(CallgateError, match="is no URL"):
        Callgate(url)


def test_settings_come_from_the_environment(
    server: GateServer, platform_token: str, monkeypatch: pytest.MonkeyPatch, conversation: str
) -> None:
    monkeypatch.setenv("CALLGATE_URL", server.url)
    monkeypatch.setenv("CALLGATE_TOKEN", platform_token)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with Callgate() as gate:
        assert gate.propose("save", {}, conversation_id=conversation, turn=1).outcome == "allowed"


def test_a_report_is_sent_until_it_is_taken(gate: Callgate, proxy: FaultyProxy) -> None:
    @gate.guard
    def save(name: str) -> str:
        return "saved"

    proxy.fault = first(6, "/result", (503, {}, b""))
    assert save("a") == "saved"
    assert len(proxy.bodies("/result")) == 7


def test_a_result_that_is_not_recorded_is_an_error_with_the_result(
    proxy: FaultyProxy, platform_token: str, conversation: str
) -> None:
    proxy.fault = lambda _, path: (503, {}, b"") if path.endswith("/result") else None
    with Callgate(proxy.url, platform_token, timeout=0.5) as gate, gate.conversation(conversation):

        @gate.guard
        def save(name: str) -> str:
            if name == "fails":
                raise ValueError("no")
            return "saved"

        with pytest.raises(CallgateError, match="result_not_recorded") as caught:
            save("a")
        assert caught.value.output == "saved"
        with pytest.raises(CallgateError, match="result_not_recorded") as caught:
            save("fails")
        assert isinstance(caught.value.raised, ValueError)


def test_a_claim_without_an_answer_runs_nothing(
    proxy: FaultyProxy, platform_token: str, conversation: str
) -> None:
    runs: list[str] = []
    proxy.fault = lambda _, path: "refuse" if path.endswith("/result") else None
    with Callgate(proxy.url, platform_token, timeout=0.5) as gate, gate.conversation(conversation):

        @gate.guard
        def save(name: str) -> str:
            runs.append(name)
            return "saved"

        call = save.with_options(call_id="k1")
        refused = call("a")
        assert isinstance(refused, Refused) and refused.reason == "gate_unavailable"
        assert runs == []
        proxy.fault = lambda _, path: None
        assert call("a") == "saved" and runs == ["a"]


def test_a_claim_whose_answer_is_lost_is_asked_for_again(gate: Callgate, proxy: FaultyProxy) -> None:
    runs: list[str] = []

    @gate.guard
    def save(name: str) -> str:
        runs.append(name)
        return "saved"

    proxy.fault = first(2, "/result", "lose")
    assert save.with_options(call_id="k1")("a") == "saved"
    assert runs == ["a"] and len(proxy.bodies("/result")) == 4


def test_a_call_that_got_no_answer_is_reported_as_not_run(
    server: GateServer, proxy: FaultyProxy, platform_token: str, conversation: str
) -> None:
    runs: list[str] = []
    with Callgate(proxy.url, platform_token, retries=1) as gate, gate.conversation(conversation):

        @gate.guard
        def charge_card(order_id: str) -> str:
            runs.append(order_id)
            return "paid"

        proxy.fault = first(2, "/v1/proposals", "lose")
        refused = charge_card("7")
        assert isinstance(refused, Refused) and refused.reason == "gate_unavailable"
        assert charge_card("7") == "paid", "the call before counts as not executed"
    assert runs == ["7"]


def test_a_restarted_server_goes_on_with_the_same_calls() -> None:
    server = GateServer().start()
    try:
        conversation, port = f"c-{uuid.uuid4().hex}", server.port
        with Callgate(server.url, timeout=30, retries=20) as gate, gate.conversation(conversation):
            first_answer = gate.propose("charge_card", {"order_id": "7"}, call_id="k1")
            server.kill()
            server.start(port)
            again = gate.propose("charge_card", {"order_id": "7"}, call_id="k1")
            assert again.repeated and again.decision_id == first_answer.decision_id
    finally:
        server.remove()


def test_errors_are_described_whatever_they_are() -> None:
    class OddError(Exception):
        @property
        def code(self) -> str:
            raise RuntimeError("unreadable")

        def __str__(self) -> str:
            raise RuntimeError("unreadable")

    assert failure_of(OddError()).error() == {"message": "OddError"}
    coded = OSError(5, "input/output error")
    coded.code = "EIO"  # type: ignore[attr-defined]
    assert failure_of(coded).error() == {"message": "[Errno 5] input/output error", "code": "EIO"}
    assert failure_of(no_effect("declined")).effect == "none"
