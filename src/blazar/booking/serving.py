"""Serving requests to a manager with use cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from blazar.booking.context import Context
from blazar.ports.manager import Caller, RequestsKey

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class HasContext(Protocol):
    """A server of requests."""

    @property
    def context(self) -> Context:
        """Return the dependencies of its use cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeService:
    """The server of the requests about a resource type, in ``service.py`` of its folder."""

    requests: RequestsKey[Any]
    make: Callable[[Context], object]
    """Returns an object that has the methods of the requests."""


def use_case(
    function: Callable[Concatenate[Context, _Arguments], _Result],
) -> Callable[Concatenate[HasContext, _Arguments], _Result]:
    """Return the method for a use case."""

    @wraps(function)
    def method(service: HasContext, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        return function(service.context, *args, **kwargs)

    return method


def same_for_all(
    function: Callable[Concatenate[Context, _Arguments], _Result],
) -> Callable[Concatenate[HasContext, Caller, _Arguments], _Result]:
    """Return the method for a use case that does not depend on the caller."""

    @wraps(function)
    def method(
        service: HasContext, caller: Caller, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> _Result:
        return function(service.context, *args, **kwargs)

    return method
