"""How a call failed: what its exception or its output says, and whether it may have taken effect.

The forms are those of `services/core/failure-forms.ts`. A form is a matter of structure; the words
of an output are no form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

Effect = Literal["none", "possible"]

AGENTS_ERROR = "An error occurred while running the tool"
"""The beginning of what the default error functions of OpenAI's Agents SDKs return."""
MESSAGE_CHARACTERS = 1_000
CODE_CHARACTERS = 200
STATUS_PATHS = (
    ("status_code",),
    ("status",),
    ("http_status",),
    ("response", "status_code"),
    ("response", "status"),
    ("response", "ResponseMetadata", "HTTPStatusCode"),
)
"""Where HTTP clients and SDKs have the status: httpx, requests, aiohttp, urllib, Stripe, boto."""

_ERROR_TYPES = ("error-text", "error-json")
_FORMS: tuple[Callable[[Mapping[str, Any]], bool], ...] = (
    # MCP tool result, in JSON and as an object of the Python SDK
    lambda it: it.get("isError") is True or it.get("is_error") is True,
    # LangChain ToolMessage, as it is and as JSON
    lambda it: it.get("status") == "error" and it.get("content") is not None,
    lambda it: "lc" in it and _member(it.get("kwargs"), "status") == "error",
    # AI SDK tool output, tool result and tool error
    lambda it: it.get("type") in _ERROR_TYPES and "value" in it,
    lambda it: it.get("type") == "tool-result" and _member(it.get("output"), "type") in _ERROR_TYPES,
    lambda it: it.get("type") == "tool-error" and "error" in it,
    # OpenAI Agents tool output
    lambda it: it.get("type") == "text" and _is_agents_error(it.get("text")),
    # flags of many APIs
    lambda it: it.get("success") is False,
    lambda it: it.get("ok") is False,
)
_MESSAGE_MEMBERS = ("error", "message", "value", "content", "text", "output")


@dataclass(frozen=True)
class Failure:
    message: str
    effect: Effect
    code: str | None = None
    retryable: bool | None = None

    def error(self) -> dict[str, object]:
        """The `error` of a report."""
        members = {"message": self.message, "code": self.code, "retryable": self.retryable}
        return {name: value for name, value in members.items() if value is not None}


def failure_form(output: object) -> Failure | None:
    """What a returned value says about a failure; None: it has none of the forms. Never raises."""
    try:
        return _form_of(output)
    except Exception:
        return None


def _form_of(output: object) -> Failure | None:
    if isinstance(output, str):
        if _is_agents_error(output):
            return Failure(output[:MESSAGE_CHARACTERS], "possible")
        return _form_of(json.loads(output)) if output.lstrip().startswith("{") else None
    if isinstance(output, BaseModel):
        return _form_of(output.model_dump())
    if not isinstance(output, Mapping) or not any(fits(output) for fits in _FORMS):
        return None
    is_refusal = output.get("ok") is False and _is_refusal(output.get("status"))
    return Failure(_message_in(output), "none" if is_refusal else "possible")


def failure_of(error: BaseException) -> Failure:
    """Describes what a function raised. Never raises, even if reading the error does."""
    message = _text_of(error) or type(error).__name__
    code = next(
        (value for name in ("code", "status_code", "status") if (value := _code(error, name))), None
    )
    retryable = _read(error, "retryable")
    return Failure(
        message[: 4 * MESSAGE_CHARACTERS],
        effect_of(error),
        None if code is None else code[:CODE_CHARACTERS],
        retryable if isinstance(retryable, bool) else None,
    )


def effect_of(error: BaseException) -> Effect:
    """The author's own word (`no_effect`), else what an HTTP status implies, else `possible`."""
    written = _read(error, "callgate_effect")
    if written == "none":
        return "none"
    if written == "possible":
        return "possible"
    statuses = [value for path in STATUS_PATHS if _is_status(value := _at(error, path))]
    return "none" if statuses and all(map(_is_refusal, statuses)) else "possible"


def _is_refusal(status: object) -> bool:
    """The server did not act. Not so for a time-out, a conflict, and what was sent too early."""
    return _is_status(status) and 400 <= int(str(status)) <= 499 and status not in (408, 409, 425)


def _is_status(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599


def _at(value: object, path: tuple[str, ...]) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else _read(value, name)
    return value


def _read(value: object, name: str) -> object:
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _code(error: object, name: str) -> str | None:
    value = _read(error, name)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _is_agents_error(text: object) -> bool:
    return isinstance(text, str) and text.startswith(AGENTS_ERROR)


def _message_in(output: Mapping[str, Any]) -> str:
    said = next((text for name in _MESSAGE_MEMBERS if (text := _text_in(output.get(name)))), None)
    return (said or json.dumps(output, default=str))[:MESSAGE_CHARACTERS]


def _text_in(value: object) -> str | None:
    if isinstance(value, str):
        return value or None
    if isinstance(value, list):
        return next((text for item in value if (text := _text_in(item))), None)
    if not isinstance(value, Mapping):
        return None
    return _text_in(value.get("message") or value.get("text") or value.get("value"))
