"""Builds proposals and reports from what a program passes."""

from __future__ import annotations

import uuid
from typing import Any

from . import models
from .conversation import CallContext, conversation_of, current_context
from .decisions import Decision, unavailable
from .endpoints import DECISION, Effect, Status, dump
from .errors import CallgateError, invalid_input
from .failures import failure_of
from .http_request import HttpRequest
from .json_values import output_to_json, sent_arguments, to_json

STATUSES = ("started", "succeeded", "failed", "not_executed", "unknown")
WAIT_MAX = 300
"""Seconds that a server waits at most in one request."""


def build_proposal(tool: str, arguments: object, context: CallContext) -> models.Proposal:
    """Raises `CallgateError` `invalid_input`. Without a call id the call gets a new one."""
    whole = context.under(current_context())
    conversation_of(whole)
    plain = arguments if isinstance(arguments, str) else sent_arguments(to_json(arguments))
    members = whole.members()
    members.setdefault("call_id", new_call_id())
    return models.Proposal(tool=tool, arguments=plain, **members)


def new_call_id() -> str:
    return str(uuid.uuid4())


def propose(proposal: models.Proposal, wait: float = 0.0) -> HttpRequest[Decision]:
    """Where the gate gives no answer, the answer is a refusal with `gate_unavailable`."""
    seconds = min(int(wait), WAIT_MAX)
    call_id = proposal.call_id or ""

    def give_up(error: CallgateError) -> Decision:
        is_closed = error.code == "closed"
        return unavailable(call_id, proposal.tool, proposal.arguments, str(error), is_closed)

    return HttpRequest(
        "POST",
        "/v1/proposals",
        DECISION.validate_python,
        body=dump(proposal),
        headers={"prefer": f"wait={seconds}"} if seconds else {},
        wait=seconds,
        give_up=give_up,
    )


def build_report(
    status: Status,
    output: object = None,
    error: BaseException | str | dict[str, Any] | None = None,
    effect: Effect | None = None,
    duration_ms: float | None = None,
    cost: models.Money | None = None,
    *,
    is_returned: bool = False,
) -> dict[str, object]:
    """The body of a report. `is_returned`: the output is what a function returned.

    Raises `CallgateError` `invalid_input`.
    """
    if status not in STATUSES:
        raise invalid_input(f"`status` must be one of {', '.join(STATUSES)}")
    if effect is not None and status != "failed":
        raise invalid_input("`effect` is only for a call with the status `failed`")
    body: dict[str, object] = {"status": status}
    if output is not None:
        body["output"], is_whole = output_to_json(output)
        body |= {} if is_whole else {"whole": False}
    if error is not None:
        body["error"] = error_member(error)
    if cost is not None:
        body["cost"] = dump(cost)
    if is_returned:
        body["basis"] = "returned"
    members = {"effect": effect, "durationMs": duration_ms}
    return body | {name: value for name, value in members.items() if value is not None}


def error_member(error: BaseException | str | dict[str, Any]) -> object:
    if isinstance(error, dict):
        return error
    if isinstance(error, BaseException):
        return failure_of(error).error()
    return {"message": error}
