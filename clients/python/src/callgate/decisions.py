"""Decisions, and the refusals that a client makes where the gate gave none."""

from __future__ import annotations

import json
from typing import Literal

from . import models

Decision = models.AllowedDecision | models.RefusedDecision | models.HeldDecision
"""Check `outcome` first: `allowed`, `refused` or `held` determines which members exist."""

ClientReason = Literal["gate_unavailable", "outcome_unknown", "duplicate_in_flight", "duplicate_call"]

ARGUMENTS_SHOWN = 200
ASK_AGAIN_MS = 1_000

MODEL_TEXTS: dict[ClientReason, str] = {
    "gate_unavailable": (
        "The gate gave no answer, so it is not known yet whether this call may run. Wait a moment "
        "and make the very same call once more; if there is still no answer, tell the user that it "
        "could not be checked."
    ),
    "outcome_unknown": (
        "You already made this exact call, but it is not known whether it took effect, so it was "
        "not run again: a repeat might do it twice. Check with a read whether it happened, or ask"
        " the user how to go on."
    ),
    "duplicate_in_flight": (
        "You already made this exact call and it is still running or waiting for approval, so it "
        "was not started a second time. Wait for its result; if you must ask again, do so after "
        "the time given."
    ),
    "duplicate_call": (
        "You already made this exact call and it succeeded, so it was not run again. Use the "
        "result you have (it is repeated with this message where it can be) and go on from there "
        "instead of calling again."
    ),
}
"""What a model reads: the texts of schemas/reasons.json."""


def client_refusal(
    reason: ClientReason,
    call_id: str,
    tool: str,
    arguments: object,
    *,
    decision_id: str | None = None,
    policy: str = "",
    message: str | None = None,
    detail: Literal["timeout", "closed"] | None = None,
    problem: str | None = None,
) -> models.Refusal:
    """A refusal that this client makes: the gate has no record of it."""
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)
    is_unavailable = reason == "gate_unavailable"
    resolution = models.Resolution(
        type="retry_after" if is_unavailable else "none",
        retry_after_ms=ASK_AGAIN_MS if is_unavailable else None,
        approval_id=None,
    )
    return models.Refusal(
        schema_version=1,
        call_id=call_id,
        tool=tool,
        arguments=shown[:ARGUMENTS_SHOWN],
        decision_id=decision_id,
        policy=policy,
        reason=reason,
        message=MODEL_TEXTS[reason] if message is None else message,
        user_message=None,
        rule="client",
        duplicate=False,
        note=None,
        level=0,
        count=0,
        retryable=is_unavailable,
        disposition="wait",
        previous_call=None,
        previous_result=None,
        conflict=None,
        resolution=resolution,
        suggested_next=[],
        problems=[],
        earlier_results=None,
        detail=detail,
        problem=problem,
    )


def unavailable(
    call_id: str, tool: str, arguments: object, problem: str, is_closed: bool = False
) -> models.RefusedDecision:
    """The refusal of a call that the gate gave no decision on. It may be proposed again."""
    detail: Literal["timeout", "closed"] = "closed" if is_closed else "timeout"
    refusal = client_refusal(
        "gate_unavailable", call_id, tool, arguments, detail=detail, problem=problem
    )
    return models.RefusedDecision(
        outcome="refused",
        call_id=call_id,
        tool=tool,
        is_read=False,
        repeated=False,
        warnings=[],
        arguments=None,
        answered=False,
        refusal=refusal,
    )


def is_undecided(decision: Decision) -> bool:
    """Whether the gate gave no decision, so that the same call may be proposed again."""
    return decision.outcome == "refused" and decision.refusal.reason == "gate_unavailable"
