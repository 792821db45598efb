"""One request to the gate, without doing it: what is sent, and how the answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from .errors import CallgateError

T = TypeVar("T")


@dataclass(frozen=True)
class HttpRequest(Generic[T]):
    method: Literal["GET", "POST"]
    path: str
    parse: Callable[[Any], T]
    """Turns the JSON of a 200 into the answer. Raises `ValueError` if it is not one."""
    body: object = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    """Seconds that the server may take longer than usual, because it waits for something."""
    may_repeat: bool = True
    """The request does the same when it arrives twice, so it is sent again after any failure."""
    is_patient: bool = False
    """It is sent again until the time limit is over, however often that is."""
    give_up: Callable[[CallgateError], T] | None = None
    """Answers where the gate gave none. Without it the error is raised."""
