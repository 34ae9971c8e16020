"""Errors of requests that usage rules refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from blazar.domain.errors import BadRequest, BlazarError, Forbidden
from blazar.domain.rules.refusal_texts import refusal_text, refusal_view
from blazar.domain.rules.rule import Rule
from blazar.domain.rules.times import Refusal


class RuleForbidsLease(Forbidden):
    """A usage rule does not allow the new lease; status 403, as if it is longer than the maximum.

    The field ``rules`` has each refusal with its code, its rule, and the time from which it is possible.
    """

    code = "rule-forbids-lease"


class RuleForbidsChange(BadRequest):
    """A usage rule does not allow the change; status 400, as if the lease would exceed the maximum.

    It has the same field as :class:`RuleForbidsLease`.
    """

    code = "rule-forbids-change"


def error_of(
    refusals: Sequence[tuple[str, Refusal]], is_shown: Callable[[Rule], bool], *, is_change: bool
) -> BlazarError:
    """Return the error for a request that rules refuse.

    Args:
        refusals: Each refusal, after the resource type of its reservation; at least one.
        is_shown: Whether a lessee may read the requirement of a rule.
        is_change: Whether the request changes a lease.
    """
    views, texts = [], []
    for resource_type, each in refusals:
        is_named = is_shown(each.rule)
        views.append({"resource_type": resource_type, **refusal_view(each, with_resources=is_named)})
        texts.append(refusal_text(each, with_resources=is_named))
    kind = RuleForbidsChange if is_change else RuleForbidsLease
    return kind("; ".join(dict.fromkeys(texts)), rules=views)
