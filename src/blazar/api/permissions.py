"""Policy rules: their declaration, and the rules in effect."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oslo_policy import policy

from blazar.domain.errors import Forbidden

if TYPE_CHECKING:
    from oslo_context.context import RequestContext

Target = Mapping[str, object]

ADMIN: Final = "admin"
PRIVATE_PROPERTIES: Final = "blazar:oshosts:private_resource_properties"
"""Rule checked by handlers. It refuses no request.

Callers who fail it see neither private properties nor the reasons why resources cannot be reserved.
"""
RESOURCE_IDS: Final = "blazar:timeline:get_ids"
"""Rule checked by a handler. It refuses no request; callers who fail it do not see the ids of resources."""

LOOKS_EVERY_SECONDS: Final = 1.0
"""Time after which a change of the operator's policy file is in effect."""

BY_READERS: Final = "rule:project_reader_or_admin"
BY_MEMBERS: Final = "rule:project_member_or_admin"
BY_OPERATORS: Final = "rule:admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A policy rule of the API. The requests for which it is checked are the routes that name it."""

    name: str
    check: str
    """The default, in the language of oslo.policy: one of the three above."""
    description: str


class Policy:
    """The rules in effect: the defaults with the changes of the operator's policy file."""

    def __init__(self, enforcer: policy.Enforcer) -> None:
        self._enforcer = enforcer
        self._looked_at = float("-inf")

    def require(self, identity: RequestContext, rule: str, target: Target) -> None:
        """Check that the rule allows this user to act on *target*.

        Raises:
            Forbidden: The rule refuses; the message names it.
        """
        try:
            self._authorize(rule, dict(target), identity, do_raise=True)
        except policy.InvalidScope as error:
            raise Forbidden(f"{rule} needs a token for a project", rule=rule) from error
        except policy.PolicyNotAuthorized as error:
            raise Forbidden(f"{rule} is disallowed by policy", rule=rule) from error

    def allows(self, identity: RequestContext, rule: str, target: Target) -> bool:
        """Return whether the rule allows this user to act on *target*."""
        try:
            self.require(identity, rule, target)
        except Forbidden:
            return False
        return True

    def is_admin(self, identity: RequestContext) -> bool:
        """Return whether the user satisfies the rule ``admin``, which has no target."""
        return bool(self._authorize(ADMIN, {}, identity, do_raise=False))

    def _authorize(
        self, rule: str, target: dict[str, object], identity: RequestContext, *, do_raise: bool
    ) -> object:
        # With `use_conf`, the library looks for changed files in each check, which takes longer than that.
        now = time.monotonic()
        if now - self._looked_at >= LOOKS_EVERY_SECONDS:
            self._looked_at = now
            self._enforcer.use_conf = True
            self._enforcer.load_rules()
        self._enforcer.use_conf = False
        return self._enforcer.authorize(rule, target, identity, do_raise=do_raise)
