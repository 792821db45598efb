"""Arguments and outputs as JSON, and outputs of the journal as Python values."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from .errors import invalid_input

EXACT_INTEGER = 2**53
"""From here on JavaScript, and so the server's JSON, may read another number."""
DEPTH_MAX = 100
TEXT_MARK = "\n"
"""The journal marks a text that is itself JSON by a line feed."""


def to_json(value: object, at: str = "arguments", depth: int = 0) -> Any:
    """The value as plain data. Raises `CallgateError` `invalid_input` that says where it has none."""
    if depth > DEPTH_MAX:
        raise invalid_input(f"`{at}` is nested more than {DEPTH_MAX} deep")
    if value is None or (isinstance(value, bool | str | int) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise invalid_input(f"`{at}` is {value}, which JSON cannot write")
    if isinstance(value, Mapping):
        return {_key(key, at): to_json(item, f"{at}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item, f"{at}[{index}]", depth + 1) for index, item in enumerate(value)]
    return _object_to_json(value, at, depth)


def _key(key: object, at: str) -> str:
    if isinstance(key, str):
        return key
    raise invalid_input(f"`{at}` has the key {key!r}, which is no text")


def _object_to_json(value: object, at: str, depth: int) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return to_json(members, at, depth + 1)
    if isinstance(value, Enum):
        return to_json(value.value, at, depth + 1)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, UUID | Decimal | PurePath):
        return str(value)
    what = type(value).__name__
    raise invalid_input(f"`{at}` is a {what}, which is no plain data", "pass text, numbers or dicts")


def is_exact(value: object, depth: int = 0) -> bool:
    """Whether JSON gives back the same value: no tuples, no dates, no models, no large integers."""
    if value is None or type(value) in (str, bool):
        return True
    if type(value) is int:
        return abs(value) < EXACT_INTEGER
    if type(value) is float:
        return math.isfinite(value)
    if depth > DEPTH_MAX:
        return False
    if type(value) is list:
        return all(is_exact(item, depth + 1) for item in value)
    if type(value) is dict:
        return all(type(key) is str and is_exact(item, depth + 1) for key, item in value.items())
    return False


def has_large_integer(value: object) -> bool:
    """Of plain data: whether the server's JSON could read another number."""
    if isinstance(value, dict):
        return any(has_large_integer(item) for item in value.values())
    if isinstance(value, list):
        return any(has_large_integer(item) for item in value)
    return isinstance(value, int) and abs(value) >= EXACT_INTEGER


def sent_arguments(arguments: Any) -> Any:
    """Plain data as it is sent. Of JSON text the gate sees a number that is too large, and says so."""
    return json.dumps(arguments) if has_large_integer(arguments) else arguments


def output_to_json(value: object) -> tuple[Any, bool]:
    """An output as plain data, and whether that is all of it."""
    if is_exact(value):
        return value, True
    try:
        return as_text_where_large(to_json(value, "output")), False
    except Exception:
        return f"[{type(value).__name__} without a JSON form]", False


def as_text_where_large(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_text_where_large(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_text_where_large(item) for item in value]
    return str(value) if has_large_integer(value) else value


def read_output(text: str) -> Any:
    """The output that the journal has as this text."""
    if text.endswith(TEXT_MARK) and _parsed(text[:-1]) is not None:
        return text[:-1]
    parsed = _parsed(text)
    return text if parsed is None else parsed[0]


def _parsed(text: str) -> tuple[Any] | None:
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None
