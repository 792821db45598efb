"""How the arguments of a call become parameters of a function, and the other way round."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..errors import CallgateError, invalid_input, no_effect
from ..json_values import to_json
from .handler_call import HandlerCall

JSON_TYPES = (str, int, float, bool, list, dict, object, type(None), inspect.Parameter.empty)

Parameters = dict[str, Any]
"""Values by parameter, as `inspect.BoundArguments.arguments` has them."""


class Binding:
    """The parameters of one function. `self` and the parameter for `HandlerCall` are no arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._whole = inspect.signature(function)
        self._hints = _hints_of(function)
        names = list(self._whole.parameters)
        self._call = next((name for name in names if self._takes_call(name)), None)
        self._self = names[0] if names and names[0] in ("self", "cls") else None
        self._visible = [
            one for one in self._whole.parameters.values() if one.name not in (self._call, self._self)
        ]
        self._callers = self._whole.replace(
            parameters=[one for one in self._whole.parameters.values() if one.name != self._call]
        )

    @property
    def signature(self) -> inspect.Signature:
        """What callers see: without the parameter for `HandlerCall`."""
        return self._callers

    @property
    def annotations(self) -> dict[str, Any]:
        return {name: hint for name, hint in self._hints.items() if name != self._call}

    def bind_self(self, leading: tuple[Any, ...], parameters: Parameters) -> Parameters:
        return {self._self: leading[0], **parameters} if self._self and leading else parameters

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Parameters:
        """Raises `TypeError` as a call of the function would."""
        return dict(self._callers.bind(*args, **kwargs).arguments)

    def arguments_of(self, parameters: Parameters) -> dict[str, Any]:
        """The call's arguments as plain data, with defaults; one that is None is left out.

        Raises `CallgateError` `invalid_input` for a value that JSON cannot write.
        """
        arguments: dict[str, Any] = {}
        for one in self._visible:
            if one.kind is one.VAR_KEYWORD:
                extra = parameters.get(one.name, {})
                arguments |= {name: to_json(value, name) for name, value in extra.items()}
            elif one.name in parameters:
                if parameters[one.name] is not None or one.default is not None:
                    arguments[one.name] = to_json(parameters[one.name], one.name)
            elif one.default is not None and _is_plain(one.default):
                arguments[one.name] = to_json(one.default)
        return arguments

    def decided(self, parameters: Parameters, arguments: Mapping[str, Any]) -> Parameters:
        """The parameters with what the gate decided on: it may have put the idempotency key in.

        A value is passed on as it was only where the gate has the same.
        """
        sent = self.arguments_of(parameters)
        changed = {
            name: value for name, value in arguments.items() if name not in sent or sent[name] != value
        }
        converted = self._from_plain(changed)
        for one in self._visible:
            if one.kind is one.VAR_KEYWORD:
                converted[one.name] = parameters.get(one.name, {}) | converted[one.name]
        return {**parameters, **converted}

    def from_plain(self, arguments: Mapping[str, Any]) -> Parameters:
        """Parameters from plain data; those with types that are no plain data are converted.

        Raises `CallgateError` `invalid_input`, marked as without effect, where they do not fit.
        """
        parameters = self._from_plain(arguments)
        missing = [
            one.name
            for one in self._visible
            if one.default is one.empty
            and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
            and one.name not in parameters
        ]
        if missing:
            raise _does_not_fit(f"`{missing[0]}` is missing")
        return parameters

    def _from_plain(self, arguments: Mapping[str, Any]) -> Parameters:
        rest = dict(arguments)
        parameters: Parameters = {}
        for one in self._visible:
            if one.kind is one.VAR_KEYWORD:
                parameters[one.name], rest = rest, {}
            elif one.name in rest:
                value = self._convert(one.name, rest.pop(one.name))
                parameters[one.name] = tuple(value) if one.kind is one.VAR_POSITIONAL else value
        if rest:
            raise _does_not_fit(f"the function has no parameter `{next(iter(rest))}`")
        return parameters

    def call(self, function: Callable[..., Any], parameters: Parameters, call: HandlerCall) -> Any:
        values = {**parameters} if self._call is None else {**parameters, self._call: call}
        ordered = {name: values[name] for name in self._whole.parameters if name in values}
        bound = inspect.BoundArguments(self._whole, ordered)
        return function(*bound.args, **bound.kwargs)

    def _takes_call(self, name: str) -> bool:
        hint = self._hints.get(name)
        if isinstance(hint, str):
            return hint.rpartition(".")[2] == HandlerCall.__name__
        return hint is HandlerCall

    def _convert(self, name: str, value: Any) -> Any:
        hint = self._hints.get(name, inspect.Parameter.empty)
        if isinstance(hint, str) or _is_json_type(hint):
            return value
        try:
            return TypeAdapter(hint).validate_python(value)
        except ValidationError as error:
            raise _does_not_fit(f"`{name}`: {error}") from error


def _hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations; as they are written where they cannot be evaluated."""
    try:
        return typing.get_type_hints(function)
    except Exception:
        parameters = inspect.signature(function).parameters
        return {name: one.annotation for name, one in parameters.items()}


def _is_json_type(hint: object) -> bool:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType, list, dict):
        return all(map(_is_json_type, typing.get_args(hint)))
    if origin is typing.Literal:
        return True
    return hint is Any or hint is None or hint in JSON_TYPES or isinstance(hint, typing.TypeVar)


def _is_plain(value: object) -> bool:
    if value is inspect.Parameter.empty:
        return False
    try:
        to_json(value)
    except CallgateError:
        return False
    return True


def _does_not_fit(why: str) -> BaseException:
    return no_effect(invalid_input(f"the arguments do not fit the function: {why}"))
