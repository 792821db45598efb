"""What a guarded function returns instead of its result when the call did not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

from . import models

MODEL_TEXT_MAX = 700
"""Characters of a refusal that a model is shown at most."""


@dataclass(frozen=True)
class Refused:
    """A call that did not run: it is falsy, and no result of a function is a `Refused`."""

    outcome: Literal["refused", "held"]
    reason: str
    message: str
    """For the model; `to_model()` cuts it."""
    tool: str
    call_id: str
    decision_id: str | None
    """None with `gate_unavailable`: nothing was decided."""
    approval_id: str | None
    """Of a held call: the id that `approve` and `deny` take."""
    warnings: tuple[models.Warning, ...]
    """From checks in mode `warn`."""
    refusal: models.Refusal
    is_over: bool = False
    """The call was allowed and not run, and cannot run under its call id any more."""

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.to_model()

    def to_model(self) -> str:
        """What to show a model: the message, 700 characters at most."""
        if len(self.message) <= MODEL_TEXT_MAX:
            return self.message
        return f"{self.message[: MODEL_TEXT_MAX - 1]}…"

    def to_json(self) -> dict[str, Any]:
        """The short form: what a model needs, and the names to look the call up by."""
        return {
            "refused": True,
            "reason": self.reason,
            "callId": self.call_id,
            "message": self.to_model(),
        }


def is_refused(answer: object) -> TypeGuard[Refused]:
    return isinstance(answer, Refused)


def refused_of(
    decision: models.AllowedDecision | models.RefusedDecision | models.HeldDecision,
    refusal: models.Refusal,
) -> Refused:
    return Refused(
        outcome="held" if decision.outcome == "held" else "refused",
        reason=refusal.reason,
        message=refusal.message,
        tool=decision.tool,
        call_id=decision.call_id,
        decision_id=decision.decision_id,
        approval_id=decision.approval_id if decision.outcome == "held" else None,
        warnings=tuple(decision.warnings),
        refusal=refusal,
    )
