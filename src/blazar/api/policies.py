"""Who may do what: the policy rules, and asking them.

Names and check strings are operators' configuration: they stay as they are.

Source: rest-api 2.3, 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_policy import policy

from blazar.domain.errors import Forbidden

if TYPE_CHECKING:
    from oslo_context.context import RequestContext

Target = Mapping[str, object]

ADMIN = "admin"
_READER = "rule:project_reader_or_admin"
_MEMBER = "rule:project_member_or_admin"
_ADMIN = "rule:admin"


def _deprecated() -> policy.DeprecatedRule:
    return policy.DeprecatedRule(
        "rule:admin_or_owner",
        "rule:admin_or_owner",
        deprecated_reason="The roles member and reader tell apart who may change and who may look.",
        deprecated_since="15.0.0",
    )


def _base_rules() -> list[policy.RuleDefault]:
    def renewed(name: str, check: str, description: str) -> policy.RuleDefault:
        return policy.RuleDefault(name, check, description, deprecated_rule=_deprecated())

    return [
        policy.RuleDefault(ADMIN, "is_admin:True or role:admin", "Operators."),
        policy.RuleDefault(
            "admin_or_owner",
            "rule:admin or project_id:%(project_id)s",
            "Operators, and everybody in the project that owns the thing. Deprecated.",
        ),
        renewed(
            "project_member_api",
            "role:member and project_id:%(project_id)s",
            "Members of the project that owns the thing.",
        ),
        renewed(
            "project_reader_api",
            "role:reader and project_id:%(project_id)s",
            "Readers of the project that owns the thing.",
        ),
        renewed(
            "project_member_or_admin",
            "rule:project_member_api or rule:admin",
            "Members of the project that owns the thing, and operators.",
        ),
        renewed(
            "project_reader_or_admin",
            "rule:project_reader_api or rule:admin",
            "Readers of the project that owns the thing, and operators.",
        ),
    ]


_LEASES = "/v1/leases"
_LEASE = "/v1/leases/{lease_id}"
_HOSTS = "/v1/os-hosts"
_HOST = "/v1/os-hosts/{host_id}"
_FLOATINGIPS = "/v1/floatingips"
_FLOATINGIP = "/v1/floatingips/{floatingip_id}"
_ALLOCATION = "/v1/os-hosts/{host_id}/allocation"

# name, check, description, the requests that ask it; of a request that asks two rules each names it.
_API_RULES: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "blazar:leases:get",
        _READER,
        "List and show leases; asked first when one is changed or deleted.",
        (("GET", _LEASES), ("GET", _LEASE), ("PUT", _LEASE), ("DELETE", _LEASE)),
    ),
    ("blazar:leases:post", _MEMBER, "Create a lease.", (("POST", _LEASES),)),
    ("blazar:leases:put", _MEMBER, "Change a lease.", (("PUT", _LEASE),)),
    ("blazar:leases:delete", _MEMBER, "Delete a lease.", (("DELETE", _LEASE),)),
    (
        "blazar:oshosts:get",
        _ADMIN,
        "List and show hosts; asked first when one is changed, removed, or its allocations are read.",
        (("GET", _HOSTS), ("GET", _HOST), ("PUT", _HOST), ("DELETE", _HOST), ("GET", _ALLOCATION)),
    ),
    ("blazar:oshosts:post", _ADMIN, "Register a host.", (("POST", _HOSTS),)),
    ("blazar:oshosts:put", _ADMIN, "Change a host's extra capabilities.", (("PUT", _HOST),)),
    ("blazar:oshosts:delete", _ADMIN, "Remove a host.", (("DELETE", _HOST),)),
    (
        "blazar:oshosts:get_allocations",
        _ADMIN,
        "Read the allocations of hosts.",
        (("GET", "/v1/os-hosts/allocations"), ("GET", _ALLOCATION)),
    ),
    (
        "blazar:oshosts:get_resource_properties",
        _ADMIN,
        "List the resource properties.",
        (("GET", "/v1/os-hosts/properties"),),
    ),
    (
        "blazar:oshosts:update_resource_properties",
        _ADMIN,
        "Make a resource property private or public.",
        (("PATCH", "/v1/os-hosts/properties/{property_name}"),),
    ),
    (
        "blazar:floatingips:get",
        _READER,
        "List and show floating IPs; asked first when one is removed.",
        (("GET", _FLOATINGIPS), ("GET", _FLOATINGIP), ("DELETE", _FLOATINGIP)),
    ),
    ("blazar:floatingips:post", _ADMIN, "Register a floating IP.", (("POST", _FLOATINGIPS),)),
    ("blazar:floatingips:delete", _ADMIN, "Remove a floating IP.", (("DELETE", _FLOATINGIP),)),
)


def list_rules() -> list[policy.RuleDefault]:
    """Return every rule with its default; the ``oslo.policy.policies`` entry point."""
    documented: list[policy.RuleDefault] = [
        policy.DocumentedRuleDefault(
            name,
            check,
            description,
            [{"method": method, "path": path} for method, path in operations],
            scope_types=["project"],
        )
        for name, check, description, operations in _API_RULES
    ]
    return _base_rules() + documented


class Policy:
    """The rules in force: the defaults, and what the operator's policy file says."""

    def __init__(self, enforcer: policy.Enforcer) -> None:
        self._enforcer = enforcer

    def require(self, identity: RequestContext, rule: str, target: Target) -> None:
        """Do nothing if the rule lets this user act on *target*.

        Raises:
            Forbidden: It does not; the message names the rule.
        """
        try:
            self._enforcer.authorize(rule, dict(target), identity, do_raise=True)
        except policy.InvalidScope as error:
            raise Forbidden(f"{rule} needs a token for a project", rule=rule) from error
        except policy.PolicyNotAuthorized as error:
            raise Forbidden(f"{rule} is disallowed by policy", rule=rule) from error

    def is_admin(self, identity: RequestContext) -> bool:
        """Return whether the user satisfies the rule ``admin``, whatever is acted on."""
        return bool(self._enforcer.authorize(ADMIN, {}, identity))


def make_policy(conf: cfg.ConfigOpts) -> Policy:
    """Return the policy that ``[oslo_policy]`` of this configuration describes; reads its file now."""
    enforcer = _enforcer(conf)
    enforcer.load_rules()
    return Policy(enforcer)


def make_enforcer() -> policy.Enforcer:
    """Return the rules as ``oslopolicy-policy-generator`` and its like ask for them.

    The entry point in ``oslo.policy.enforcer``. It reads the configuration that these tools were given
    by ``--config-file``, or else that of the service.
    """
    conf = cfg.ConfigOpts()
    conf([], project="blazar", default_config_files=cfg.CONF.config_file or None)
    return _enforcer(conf)


def _enforcer(conf: cfg.ConfigOpts) -> policy.Enforcer:
    enforcer = policy.Enforcer(conf)
    enforcer.register_defaults(list_rules())
    return enforcer
