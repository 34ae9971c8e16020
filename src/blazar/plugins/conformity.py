"""Conformity of a plugin with the contract: detection of mistakes that Python itself does not find."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator

from blazar.plugins.capabilities import CAPABILITIES, DiscoversResources, RegistersResources
from blazar.plugins.contract import ResourcePlugin


def list_violations(plugin: object) -> tuple[str, ...]:
    """Return every difference between a plugin and the contract, in sentences that name attribute or method.

    These are missing attributes and methods, methods that do not accept the arguments of the contract,
    methods of capabilities that the plugin does not declare, and capabilities that exclude each other.
    """
    found = [*_violations_of(plugin, ResourcePlugin, "")]
    for capability in CAPABILITIES:
        if isinstance(plugin, capability):
            found += _violations_of(plugin, capability, f" of {capability.__name__}")
        else:
            found += _undeclared(plugin, capability)
    if isinstance(plugin, DiscoversResources) and isinstance(plugin, RegistersResources):
        found.append("resources are either discovered or registered: inherit only one of the two classes")
    return tuple(found)


def _violations_of(plugin: object, part: type, owner: str) -> Iterator[str]:
    for name in part.__annotations__:
        if not hasattr(plugin, name):
            yield f"the attribute {name}{owner} is missing"
    for name, method in _methods(part):
        found = getattr(plugin, name, None)
        if not callable(found):
            yield f"the method {name}{owner} is missing"
        elif not _accepts(found, method):
            parameters = list(inspect.signature(method).parameters.values())[1:]
            wanted = inspect.Signature(
                [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
            )
            yield f"the method {name}{owner} must accept the arguments {wanted}"


def _undeclared(plugin: object, capability: type) -> Iterator[str]:
    names = [*capability.__annotations__, *(name for name, _ in _methods(capability))]
    for name in names:
        if hasattr(plugin, name):
            yield f"{name} belongs to a capability that is not declared: inherit {capability.__name__}"


def _methods(part: type) -> Iterator[tuple[str, Callable[..., object]]]:
    for name, each in vars(part).items():
        if inspect.isfunction(each) and not name.startswith("_"):
            yield name, each


def _accepts(found: Callable[..., object], method: Callable[..., object]) -> bool:
    """Return whether a bound method can be called as the contract calls *method*."""
    if inspect.ismethod(found):
        return _function_accepts(found.__func__, method, has_self=True)
    # Not cached: it may belong to one plugin only.
    return _function_accepts.__wrapped__(found, method, has_self=False)


@functools.cache
def _function_accepts(found: Callable[..., object], method: Callable[..., object], *, has_self: bool) -> bool:
    """Return what :func:`_accepts` does; cached, because tests make thousands of plugins of few classes."""
    _, *parameters = inspect.signature(method).parameters.values()
    by_name = {each.name: None for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}
    try:
        inspect.signature(found).bind(*[None] * (len(parameters) - len(by_name) + has_self), **by_name)
    except ValueError:
        return True  # a method that is not written in Python may have no signature
    except TypeError:
        return False
    return True
