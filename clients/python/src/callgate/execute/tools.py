"""The functions that a worker runs calls with, by the name of their tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import invalid_input
from ..guard.binding import Binding
from ..guard.handler_call import HandlerCall


@dataclass(frozen=True)
class Tool:
    function: Callable[..., Any]
    binding: Binding
    is_async: bool

    def start(self, arguments: Mapping[str, Any], call: HandlerCall) -> Any:
        """Calls the function; the answer of an asynchronous one is awaitable."""
        parameters = self.binding.from_plain(arguments)
        value = self.binding.call(self.function, parameters, call)
        if inspect.isgenerator(value):
            return _read(value)
        return _read_async(value) if inspect.isasyncgen(value) else value


def read_tools(tools: Mapping[str, Callable[..., Any]]) -> dict[str, Tool]:
    """Raises `CallgateError` `invalid_input`."""
    if not tools:
        raise invalid_input("there are no tools to serve")
    for name, function in tools.items():
        if not callable(function) or isinstance(function, type):
            raise invalid_input(f"the tool `{name}` is no function")
    return {name: _tool(function) for name, function in tools.items()}


def _tool(function: Callable[..., Any]) -> Tool:
    is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    return Tool(function, Binding(function), is_async)


def _read(values: Any) -> Any:
    """The return value of a generator, else the last value that it yields."""
    last = None
    try:
        while True:
            last = next(values)
    except StopIteration as end:
        return last if end.value is None else end.value


async def _read_async(values: Any) -> Any:
    last = None
    async for value in values:
        last = value
    return last
