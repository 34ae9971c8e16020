"""Policy rules and their enforcement.

Operators' policy files refer to the names and check strings; do not change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_policy import policy

from blazar.domain.errors import Forbidden

if TYPE_CHECKING:
    from oslo_context.context import RequestContext

Target = Mapping[str, object]

ADMIN = "admin"
PRIVATE_PROPERTIES = "blazar:oshosts:private_resource_properties"
"""Rule checked by handlers. It refuses no request; callers who fail it do not see private properties."""
RESOURCE_IDS = "blazar:timeline:get_ids"
"""Rule checked by a handler. It refuses no request; callers who fail it do not see the ids of resources."""
_READER = "rule:project_reader_or_admin"
_MEMBER = "rule:project_member_or_admin"
_ADMIN = "rule:admin"


def _deprecated() -> policy.DeprecatedRule:
    return policy.DeprecatedRule(
        "rule:admin_or_owner",
        "rule:admin_or_owner",
        deprecated_reason="The roles member and reader distinguish write access from read access.",
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
            "Operators, and all users of the project that owns the resource. Deprecated.",
        ),
        renewed(
            "project_member_api",
            "role:member and project_id:%(project_id)s",
            "Members of the project that owns the resource.",
        ),
        renewed(
            "project_reader_api",
            "role:reader and project_id:%(project_id)s",
            "Readers of the project that owns the resource.",
        ),
        renewed(
            "project_member_or_admin",
            "rule:project_member_api or rule:admin",
            "Members of the project that owns the resource, and operators.",
        ),
        renewed(
            "project_reader_or_admin",
            "rule:project_reader_api or rule:admin",
            "Readers of the project that owns the resource, and operators.",
        ),
    ]


_LEASES = "/v1/leases"
_LEASE = "/v1/leases/{lease_id}"
_LEASE_ALLOCATIONS = "/v1/leases/{lease_id}/allocations"
_LEASE_RESOURCES = "/v1/leases/{lease_id}/resources"
_LEASE_HISTORY = "/v1/leases/{lease_id}/history"
_OFFERS = "/v1/offers"
_OFFER = "/v1/offers/{offer_id}"
_HOSTS = "/v1/os-hosts"
_HOST = "/v1/os-hosts/{host_id}"
_FLOATINGIPS = "/v1/floatingips"
_FLOATINGIP = "/v1/floatingips/{floatingip_id}"
_ALLOCATION = "/v1/os-hosts/{host_id}/allocation"

# Name, check, description, and the requests for which the rule is checked.
_API_RULES: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "blazar:leases:get",
        _READER,
        "List and show leases. Also checked first when a lease is changed or deleted.",
        (
            *(("GET", _LEASES), ("GET", _LEASE), ("PUT", _LEASE), ("DELETE", _LEASE)),
            ("GET", _LEASE_ALLOCATIONS),
            ("GET", _LEASE_RESOURCES),
            ("GET", _LEASE_HISTORY),
        ),
    ),
    (
        "blazar:leases:get_allocations",
        _READER,
        "List the resources that a lease holds, with host names. Checked after blazar:leases:get.",
        (("GET", _LEASE_ALLOCATIONS), ("GET", _LEASE_RESOURCES)),
    ),
    (
        "blazar:leases:get_history",
        _READER,
        "Read what happened to a lease, without names of others. Checked after blazar:leases:get.",
        (("GET", _LEASE_HISTORY),),
    ),
    ("blazar:leases:post", _MEMBER, "Create a lease.", (("POST", _LEASES),)),
    ("blazar:leases:put", _MEMBER, "Change a lease.", (("PUT", _LEASE),)),
    ("blazar:leases:delete", _MEMBER, "Delete a lease.", (("DELETE", _LEASE),)),
    (
        "blazar:catalogue:get",
        _READER,
        "Read what can be reserved: resource types, public properties, and the limits of the project.",
        (("GET", "/v1/catalogue"),),
    ),
    (
        "blazar:availability:get",
        _READER,
        "Read the numbers of free resources over time.",
        (("GET", "/v1/availability"),),
    ),
    (
        "blazar:timeline:get",
        _READER,
        "Read over time which resources are taken, by the caller, by the project, or by others.",
        (("GET", "/v1/timeline"),),
    ),
    (
        RESOURCE_IDS,
        _ADMIN,
        "Read the ids of the resources in a timeline. For other callers, its rows have only numbers.",
        (("GET", "/v1/timeline"),),
    ),
    (
        "blazar:availability:search",
        _READER,
        "Search for the times at which reservations can be made.",
        (("POST", "/v1/availability/search"),),
    ),
    (
        "blazar:offers:get",
        _READER,
        "List and show offers of the caller's project. Also checked first when an offer is deleted.",
        (("GET", _OFFERS), ("GET", _OFFER), ("DELETE", _OFFER)),
    ),
    (
        "blazar:offers:post",
        _MEMBER,
        "Have resources held for a short time. A lease is made of them under blazar:leases:post.",
        (("POST", _OFFERS),),
    ),
    (
        "blazar:offers:delete",
        _MEMBER,
        "Release what an offer of the caller's project holds.",
        (("DELETE", _OFFER),),
    ),
    (
        "blazar:oshosts:get",
        _ADMIN,
        "List and show hosts. Also checked first to change or remove a host, or read its allocations.",
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
        PRIVATE_PROPERTIES,
        _ADMIN,
        "See private resource properties, and use them in requirements. For other callers they do not exist.",
        (
            *(("POST", _LEASES), ("PUT", _LEASE), ("GET", _HOSTS), ("GET", _HOST), ("PUT", _HOST)),
            *(("GET", "/v1/os-hosts/properties"), ("POST", "/v1/availability/search")),
            *(("GET", "/v1/catalogue"), ("GET", "/v1/availability")),
            ("GET", "/v1/timeline"),
            ("POST", _OFFERS),
        ),
    ),
    (
        "blazar:floatingips:get",
        _READER,
        "List and show floating IPs. Also checked first when a floating IP is removed.",
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
    """The rules in effect: the defaults with the changes of the operator's policy file."""

    def __init__(self, enforcer: policy.Enforcer) -> None:
        self._enforcer = enforcer

    def require(self, identity: RequestContext, rule: str, target: Target) -> None:
        """Check that the rule allows this user to act on *target*.

        Raises:
            Forbidden: The rule refuses; the message names it.
        """
        try:
            self._enforcer.authorize(rule, dict(target), identity, do_raise=True)
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
        return bool(self._enforcer.authorize(ADMIN, {}, identity))


def make_policy(conf: cfg.ConfigOpts, more: Iterable[policy.RuleDefault] = ()) -> Policy:
    """Return the policy configured in ``[oslo_policy]``, after reading its file.

    Args:
        conf: The configuration.
        more: Rules of collections that plugins declare.

    Raises:
        ValueError: The file is not usable.
    """
    enforcer = _enforcer(conf)
    enforcer.register_defaults(list(more))
    try:
        enforcer.load_rules()
    except Exception as error:  # The library documents no set of exceptions.
        raise ValueError(f"[oslo_policy] policy_file: {enforcer.policy_path}: {error}") from error
    return Policy(enforcer)


def make_enforcer() -> policy.Enforcer:
    """Return the rules for ``oslopolicy-policy-generator`` and similar tools.

    This is the entry point in ``oslo.policy.enforcer``. It reads the files given to the tool with
    ``--config-file``, or else the configuration of the service.
    """
    conf = cfg.ConfigOpts()
    conf([], project="blazar", default_config_files=cfg.CONF.config_file or None)
    return _enforcer(conf)


def _enforcer(conf: cfg.ConfigOpts) -> policy.Enforcer:
    enforcer = policy.Enforcer(conf)
    enforcer.register_defaults(list_rules())
    return enforcer
