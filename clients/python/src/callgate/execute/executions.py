"""The requests by which a worker claims calls, holds on to them, and says how they ended."""

from __future__ import annotations

from .. import models
from ..endpoints import path_id
from ..http_request import HttpRequest


def claim(
    worker: str, tools: list[str], max_calls: int, wait: float, lease_seconds: int
) -> HttpRequest[models.Executions]:
    """Not sent twice: what a lost answer handed out comes back when its lease ends."""
    body = {
        "worker": worker,
        "tools": tools,
        "max": max_calls,
        "wait": wait,
        "leaseSeconds": lease_seconds,
    }
    return HttpRequest(
        "POST",
        "/v1/executions",
        models.Executions.model_validate,
        body=body,
        wait=wait,
        may_repeat=False,
    )


def renew(execution_id: str, lease_seconds: int) -> HttpRequest[models.Lease]:
    path = f"/v1/executions/{path_id(execution_id)}/renew"
    return HttpRequest("POST", path, models.Lease.model_validate, body={"leaseSeconds": lease_seconds})


def release(execution_id: str) -> HttpRequest[object]:
    """Hands a call back that the worker has not begun."""
    path = f"/v1/executions/{path_id(execution_id)}/release"
    return HttpRequest("POST", path, _anything, body={})


def finish(execution_id: str, body: dict[str, object]) -> HttpRequest[models.ReportOutcome]:
    path = f"/v1/executions/{path_id(execution_id)}/result"
    return HttpRequest("POST", path, models.ReportOutcome.model_validate, body=body, is_patient=True)


def _anything(answer: object) -> object:
    return answer
