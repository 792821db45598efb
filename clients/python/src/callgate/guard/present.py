"""How a guarded function answers: its output, an output from memory, and what the model must hear.

ANSWER-1 an output from memory is marked as one in every form that can carry a mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from .. import models
from ..json_values import read_output
from ..refused import Refused

T = TypeVar("T")

AnswerForm = Literal["noted", "bare", "wrapped"]
NOTE_BEGINS = "\n\n[Gate: "
DUPLICATE_NOTE = "This tool call was already made"
RESULT_BEGINS = ". Result was: "


@dataclass(frozen=True)
class WrappedAnswer(Generic[T]):
    """An output with what is to be said about it."""

    output: T
    duplicate: bool
    """The function did not run for this call: the output is an earlier one."""
    note: str | None
    """For the model; None if there is nothing to say."""
    warnings: tuple[models.Warning, ...]
    """From checks in mode `warn`: each `message` is for the model."""


class EarlierDict(dict[str, Any]):
    """An output from memory."""

    note: str | None = None


class EarlierList(list[Any]):
    """An output from memory."""

    note: str | None = None


@dataclass(frozen=True)
class EarlierOutput:
    """An output that was not made for this call, before it gets its form."""

    output: Any
    note: str | None


def earlier_output(refusal: models.Refusal) -> EarlierOutput:
    """The output that answers a duplicate, with the note; the note's own quotation is left out."""
    previous = refusal.previous_result
    inline = None if previous is None else previous.inline
    note = refusal.note
    if note is not None:
        note = f"{note.partition(RESULT_BEGINS)[0]}. This is its earlier result."
    return EarlierOutput(None if inline is None else read_output(inline), note)


def present(answer: object, warnings: Sequence[models.Warning], form: AnswerForm) -> object:
    """Gives an output its form. A refusal has none."""
    if isinstance(answer, Refused):
        return answer
    earlier = answer if isinstance(answer, EarlierOutput) else None
    output = answer if earlier is None else earlier.output
    note = None if earlier is None else earlier.note
    if form == "wrapped":
        return WrappedAnswer(output, earlier is not None, note, tuple(warnings))
    if isinstance(output, str) and form == "noted":
        return _with_notes(output, note, warnings)
    return output if earlier is None else _marked(output, note)


def _with_notes(output: str, note: str | None, warnings: Sequence[models.Warning]) -> str:
    said = [*([] if note is None else [note]), *(one.message for one in warnings)]
    return f"{output}{NOTE_BEGINS}{' '.join(said)}]" if said else output


def _marked(output: object, note: str | None) -> object:
    if isinstance(output, dict):
        earlier = EarlierDict(output)
        earlier.note = note
        return earlier
    if isinstance(output, list):
        items = EarlierList(output)
        items.note = note
        return items
    return output


def was_answered(answer: object) -> bool:
    """Whether an answer is an earlier output, so that the function did not run for this call.

    A number or a boolean cannot say so: use `answers="wrapped"` or `on_decision` there.
    """
    if isinstance(answer, str):
        return f"{NOTE_BEGINS}{DUPLICATE_NOTE}" in answer
    if isinstance(answer, WrappedAnswer):
        return answer.duplicate
    return isinstance(answer, EarlierDict | EarlierList)


def warnings_of(answer: object) -> tuple[models.Warning, ...]:
    """The warnings of a refusal, of a wrapped answer, and of an exception that a function raised."""
    if isinstance(answer, Refused | WrappedAnswer):
        return answer.warnings
    return tuple(getattr(answer, "callgate_warnings", ()))


def mark_error(error: BaseException, warnings: Sequence[models.Warning]) -> None:
    """Attaches the warnings to an exception; one that takes no attributes stays as it is."""
    if not warnings:
        return
    try:
        error.callgate_warnings = tuple(warnings)  # type: ignore[attr-defined]
    except AttributeError:
        return
