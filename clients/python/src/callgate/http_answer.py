"""Reads answers: only a 200 with the right body is one. Everything else becomes a `CallgateError`."""

from __future__ import annotations

import json
import random
from typing import Any, TypeVar

import httpx2

from .errors import CallgateError
from .http_request import HttpRequest

T = TypeVar("T")

FIRST_DELAY = 0.1
DELAY_MAX = 2.0
BODY_SHOWN = 200
CHECK_URL = "check that the URL is the one that `callgate serve` prints"

UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
"""The request has certainly not arrived."""
NO_ANSWER_YET = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses that say nothing of the request itself."""


def read_answer(request: HttpRequest[T], response: httpx2.Response) -> T:
    """Raises `CallgateError` for everything but a 200 that can be read."""
    if response.status_code != 200:
        raise problem_of(response)
    try:
        return request.parse(response.json())
    except ValueError as error:
        shown = response.text[:BODY_SHOWN]
        detail = f"`{request.method} {request.path}` got an answer that cannot be read: {shown}"
        raise CallgateError("invalid_answer", detail, CHECK_URL, status=200) from error


def problem_of(response: httpx2.Response) -> CallgateError:
    """Reads `application/problem+json`; any other body is shown as it is."""
    status = response.status_code
    retry_after = _seconds(response.headers.get("retry-after"))
    try:
        problem = response.json()
    except (ValueError, UnicodeDecodeError):
        problem = None
    if not isinstance(problem, dict) or not isinstance(problem.get("code"), str):
        return _foreign_answer(response, retry_after)
    return CallgateError(
        problem["code"],
        _text(problem, "detail") or _text(problem, "title") or f"the gate answered {status}",
        _text(problem, "remedy") or "",
        status=status,
        at=_text(problem, "at"),
        request_id=_text(problem, "requestId") or response.headers.get("x-request-id"),
        retry_after=retry_after,
    )


def _foreign_answer(response: httpx2.Response, retry_after: float | None) -> CallgateError:
    status = response.status_code
    code = "unavailable" if status in NO_ANSWER_YET else "invalid_answer"
    detail = f"the server answered {status}: {response.text[:BODY_SHOWN]}"
    return CallgateError(code, detail, CHECK_URL, status=status, retry_after=retry_after)


def _text(problem: dict[str, Any], name: str) -> str | None:
    value = problem.get(name)
    return value if isinstance(value, str) and value else None


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() else None


def connection_error(error: httpx2.RequestError, url: str) -> CallgateError:
    """A time-out or a broken connection; `is_unsent` tells whether it can have arrived."""
    if isinstance(error, httpx2.TimeoutException) and not isinstance(error, UNSENT):
        return CallgateError("timeout", f"the gate at {url} gave no answer in time")
    why = str(error) or type(error).__name__
    return CallgateError(
        "unreachable",
        f"the gate at {url} cannot be reached: {why}",
        "start it with `callgate serve`, or correct the URL",
    )


def says_nothing(error: CallgateError) -> bool:
    """Whether the error leaves open what the gate would answer."""
    if error.code in ("unreachable", "timeout", "unavailable", "invalid_answer"):
        return True
    return error.status in NO_ANSWER_YET


class Attempts:
    """Counts the attempts of one request, and says how long to wait before the next."""

    def __init__(self, request: HttpRequest[Any], retries: int) -> None:
        self._request = request
        self._retries = retries
        self._count = 0
        self.is_sent = False
        """Whether any attempt may have arrived."""

    def delay_after(self, error: CallgateError, cause: object, left: float) -> float | None:
        """Seconds until the next attempt; None: there is none."""
        is_unsent = isinstance(cause, UNSENT)
        self.is_sent = self.is_sent or not is_unsent
        self._count += 1
        if self._request.wait > 0 and error.code == "timeout" and error.status is not None:
            # The server has waited as long as it was asked to.
            return None
        if not says_nothing(error) or not (is_unsent or self._request.may_repeat):
            return None
        if self._count > self._retries and not self._request.is_patient:
            return None
        delay = min(FIRST_DELAY * 2 ** (self._count - 1), DELAY_MAX) * random.uniform(0.5, 1.0)
        delay = max(delay, error.retry_after or 0.0)
        return delay if delay < left else None

    def give_up(self, error: CallgateError) -> Any:
        """The answer without an answer. Raises the error where there is none."""
        is_open = says_nothing(error) or error.code == "closed"
        if self._request.give_up is not None and is_open:
            return self._request.give_up(error)
        raise error


def closed() -> CallgateError:
    return CallgateError("closed", "the client is closed", "make a new one")


def body_of(request: HttpRequest[Any]) -> bytes | None:
    """Raises `CallgateError` `invalid_input` for what JSON cannot write."""
    if request.method == "GET":
        return None
    try:
        return json.dumps(request.body or {}, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        detail = f"the body of `{request.path}` cannot be written as JSON: {error}"
        raise CallgateError("invalid_input", detail, "pass plain data") from error
