"""The conversation, turn and step that calls belong to: `with gate.conversation("c-1"): …`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from . import models
from .errors import invalid_input

Mark = str | int
"""A turn or a step: a text or a whole number."""
OnHeld = Literal["return", "wait"]


@dataclass(frozen=True)
class CallContext:
    """Who calls, and when. What is None comes from the context around it, or is left out."""

    conversation_id: str | None = None
    tenant_id: str | None = None
    agent_id: str | None = None
    turn: Mark | None = None
    """One message of the user, and what follows it."""
    step: Mark | None = None
    """One message of the model: its calls were made together."""
    assistant_text: str | None = None
    """What the model said with the call."""
    confirmation: str | None = None
    """The id of a user's confirmation that you vouch for."""
    on_held: OnHeld | None = None
    """`wait`: a held call waits for the verdict instead of returning `Refused`."""
    call_id: str | None = None
    """The model's id of the call: the same id gets the same decision."""
    approval_id: str | None = None
    """The approval under which a held call is made again."""
    estimated_cost: models.Money | None = None

    def under(self, outer: CallContext) -> CallContext:
        """This context, completed from the one around it."""
        own = {name: value for name, value in vars(self).items() if value is not None}
        return replace(outer, **own)

    def members(self) -> dict[str, Any]:
        """The members of a proposal, without those that have no value."""
        proposal = {name: getattr(self, name) for name in PROPOSAL_MEMBERS}
        return {name: value for name, value in proposal.items() if value is not None}


PROPOSAL_MEMBERS = tuple(field.name for field in fields(CallContext) if field.name != "on_held")

_NONE = CallContext()
_current: ContextVar[CallContext | None] = ContextVar("callgate_context", default=None)


def current_context() -> CallContext:
    return _current.get() or _NONE


@contextmanager
def entered(context: CallContext) -> Iterator[CallContext]:
    """Calls inside of the block belong to this context, completed from the one around it."""
    whole = context.under(current_context())
    token = _current.set(whole)
    try:
        yield whole
    finally:
        _current.reset(token)


def conversation_of(context: CallContext) -> str:
    """Raises `CallgateError` `invalid_input` where there is none."""
    if context.conversation_id:
        return context.conversation_id
    raise invalid_input(
        "the call belongs to no conversation",
        'make it inside of `with gate.conversation("…"):`, or pass `conversation_id`',
    )
