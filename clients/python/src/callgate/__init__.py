"""Client of Callgate, a policy gate for AI-agent tool calls. docs/python.md describes it."""

from .async_client import AsyncCallgate
from .client import Callgate
from .conversation import CallContext
from .decisions import Decision
from .errors import CallgateError, no_effect
from .events import GateEvent
from .guard.handler_call import HandlerCall, current_call
from .guard.present import WrappedAnswer, warnings_of, was_answered
from .models import (
    AllowedDecision,
    HeldDecision,
    Money,
    PendingCall,
    Refusal,
    RefusedDecision,
    ReportOutcome,
    RulingOutcome,
    ShownApproval,
    StoredResult,
    Warning,
)
from .refused import Refused, is_refused

__all__ = [
    "AllowedDecision",
    "AsyncCallgate",
    "CallContext",
    "Callgate",
    "CallgateError",
    "Decision",
    "GateEvent",
    "HandlerCall",
    "HeldDecision",
    "Money",
    "PendingCall",
    "Refusal",
    "Refused",
    "RefusedDecision",
    "ReportOutcome",
    "RulingOutcome",
    "ShownApproval",
    "StoredResult",
    "Warning",
    "WrappedAnswer",
    "current_call",
    "is_refused",
    "no_effect",
    "warnings_of",
    "was_answered",
]
