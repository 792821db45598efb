"""The requests by which a worker claims calls, holds on to them, and says how they ended."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from .. import models
from ..endpoints import path_id
from ..http_request import HttpRequest


class ExecutionModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")


class Execution(ExecutionModel):
    """A call that this worker has begun: nobody else is handed it."""

    execution_id: str
    decision_id: str
    call_id: str
    conversation_id: str
    tenant_id: str
    tool: str
    arguments: dict[str, Any]
    idempotency_key: str
    not_after: float
    time_limit_ms: float
    lease_expires_at: float


class Executions(ExecutionModel):
    executions: list[Execution]


class Lease(ExecutionModel):
    lease_expires_at: float


def claim(
    worker: str, tools: list[str], max_calls: int, wait: float, lease_seconds: float
) -> HttpRequest[Executions]:
    """Not sent twice: what a lost answer handed out comes back when its lease ends."""
    body = {
        "worker": worker,
        "tools": tools,
        "max": max_calls,
        "wait": wait,
        "leaseSeconds": lease_seconds,
    }
    return HttpRequest(
        "POST", "/v1/executions", Executions.model_validate, body=body, wait=wait, may_repeat=False
    )


def renew(execution_id: str, lease_seconds: float) -> HttpRequest[Lease]:
    path = f"/v1/executions/{path_id(execution_id)}/renew"
    return HttpRequest("POST", path, Lease.model_validate, body={"leaseSeconds": lease_seconds})


def release(execution_id: str) -> HttpRequest[object]:
    """Hands a call back that the worker has not begun."""
    path = f"/v1/executions/{path_id(execution_id)}/release"
    return HttpRequest("POST", path, _anything, body={})


def finish(execution_id: str, body: dict[str, object]) -> HttpRequest[models.ReportOutcome]:
    path = f"/v1/executions/{path_id(execution_id)}/result"
    return HttpRequest("POST", path, models.ReportOutcome.model_validate, body=body, is_patient=True)


def _anything(answer: object) -> object:
    return answer
