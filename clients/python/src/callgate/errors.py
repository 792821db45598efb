"""The one exception that this package raises by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .refused import Refused


class CallgateError(Exception):
    """What went wrong, and what to do. A refused call is a decision and is not raised.

    `code` is the code of the server's problem, or one of the client's own:

    ====================== =================================================================
    `unreachable`          no connection, or it broke; the request may have arrived or not
    `timeout`              no answer in time; the call may still be decided
    `unavailable`          the server answered with an error that says nothing of the request
    `invalid_answer`       the answer is not one of the gate's: look at the URL
    `invalid_input`        an argument is wrong: a mistake in the calling program
    `result_not_recorded`  the function ran, and its result is not in the journal
    `time_limit`           the function ran longer than the policy allows
    `closed`               the client is closed
    `refused`              a call was refused, and `on_refused="raise"` asks for an exception
    ====================== =================================================================
    """

    def __init__(
        self,
        code: str,
        detail: str,
        remedy: str = "",
        *,
        status: int | None = None,
        at: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        output: object = None,
        raised: BaseException | None = None,
        refused: Refused | None = None,
    ) -> None:
        super().__init__(code, detail, remedy)
        self.code = code
        self.detail = detail
        """What is wrong, in one sentence."""
        self.remedy = remedy
        """What to do; empty where nothing can be said."""
        self.status = status
        """The HTTP status; None if there was no answer."""
        self.at = at
        """The member, parameter or header that is wrong, where the server says so."""
        self.request_id = request_id
        self.retry_after = retry_after
        """Seconds to wait before the next attempt, where the server says so."""
        self.output = output
        """What the function returned (`result_not_recorded`)."""
        self.raised = raised
        """What the function raised (`result_not_recorded`)."""
        self.refused = refused
        """The refused call (`refused`)."""

    def __str__(self) -> str:
        where = f" (at `{self.at}`)" if self.at else ""
        remedy = f": {self.remedy}" if self.remedy else ""
        return f"{self.code}: {self.detail}{where}{remedy}"

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in self.__dict__.items() if name != "raised"}
        return (type(self), (self.code, self.detail, self.remedy), state)


def invalid_input(detail: str, remedy: str = "") -> CallgateError:
    return CallgateError("invalid_input", detail, remedy)


def no_effect(error: BaseException | str) -> BaseException:
    """Marks an error: the call failed and certainly took no effect, so it may run again.

    Raise what it returns from a guarded function, and only if you are certain: a time-out is not.
    """
    marked = Exception(error) if isinstance(error, str) else error
    marked.callgate_effect = "none"  # type: ignore[attr-defined]
    return marked
