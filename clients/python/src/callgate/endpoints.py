"""The requests of the HTTP API, one function each. Nothing here is sent."""

from __future__ import annotations

from typing import Any, Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter

from . import models
from .decisions import Decision
from .errors import CallgateError
from .http_request import HttpRequest

Status = Literal["started", "succeeded", "failed", "not_executed", "unknown"]
Effect = Literal["none", "possible"]

WAIT_MAX = 300.0
"""Seconds that one request may wait; a longer wait is several requests."""

DECISION: TypeAdapter[Decision] = TypeAdapter(Decision)

M = TypeVar("M", bound=BaseModel)


def path_id(text: str) -> str:
    return quote(text, safe="")


def _members(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def get_decision(decision_id: str, wait: float = 0.0) -> HttpRequest[Decision]:
    path = f"/v1/decisions/{path_id(decision_id)}"
    query = {"wait": wait} if wait else {}
    return HttpRequest("GET", path, DECISION.validate_python, query=query, wait=wait)


def report(decision_id: str, body: dict[str, object]) -> HttpRequest[models.ReportOutcome]:
    path = f"/v1/decisions/{path_id(decision_id)}/result"
    return HttpRequest("POST", path, models.ReportOutcome.model_validate, body=body, is_patient=True)


def get_result(decision_id: str, wait: float = 0.0) -> HttpRequest[models.StoredResult]:
    path = f"/v1/results/{path_id(decision_id)}"
    query = {"wait": wait} if wait else {}
    return HttpRequest("GET", path, models.StoredResult.model_validate, query=query, wait=wait)


def list_approvals(
    tenant_id: str | None, conversation_id: str | None
) -> HttpRequest[list[models.PendingCall]]:
    query = _members(tenantId=tenant_id, conversationId=conversation_id)

    def parse(answer: object) -> list[models.PendingCall]:
        return list(models.PendingCalls.model_validate(answer).approvals)

    return HttpRequest("GET", "/v1/approvals", parse, query=query)


def get_approval(approval_id: str) -> HttpRequest[models.ShownApproval]:
    path = f"/v1/approvals/{path_id(approval_id)}"
    return HttpRequest("GET", path, models.ShownApproval.model_validate)


def answer_hold(
    verdict: Literal["approve", "deny"],
    approval_id: str,
    reason: str | None,
    further: dict[str, object] | None = None,
) -> HttpRequest[Decision]:
    body = _members(reason=reason, further=further)
    path = f"/v1/approvals/{path_id(approval_id)}/{verdict}"
    return HttpRequest("POST", path, DECISION.validate_python, body=body, may_repeat=False)


def further(calls: int | Literal["any"] | None, until_ms: int | None) -> dict[str, object] | None:
    if calls is None and until_ms is None:
        return None
    return _members(calls=calls, untilMs=until_ms)


def order_conversation(
    order: Literal["end", "resume"], conversation_id: str, tenant_id: str | None, reason: str | None
) -> HttpRequest[models.RulingOutcome]:
    return HttpRequest(
        "POST",
        f"/v1/conversations/{path_id(conversation_id)}/{order}",
        models.RulingOutcome.model_validate,
        body=_members(reason=reason),
        query=_members(tenantId=tenant_id),
    )


def dump(model: BaseModel) -> dict[str, Any]:
    """The model as the server reads it: its own names, and no members without a value."""
    return model.model_dump(by_alias=True, exclude_none=True, mode="json")


def is_no_result(error: CallgateError) -> bool:
    """Nobody has reported a result, as far as the server has waited."""
    return error.code == "no_result" or (error.code == "timeout" and error.status is not None)
