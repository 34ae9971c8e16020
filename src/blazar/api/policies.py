"""Every policy rule with its default.

Operators' policy files refer to the names and check strings; do not change them.
"""

from __future__ import annotations

from collections.abc import Iterable

from oslo_config import cfg
from oslo_policy import policy

from blazar.api.permissions import (
    ADMIN,
    BY_MEMBERS,
    BY_OPERATORS,
    BY_READERS,
    PRIVATE_PROPERTIES,
    RESOURCE_IDS,
    Policy,
    Rule,
)
from blazar.api.route import Route
from blazar.api.routes import CORE_ROUTES, TYPE_APIS
from blazar.api.type_api import TypeApi


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


_CORE_RULES: tuple[Rule, ...] = (
    Rule(
        name="blazar:leases:get",
        check=BY_READERS,
        description="List and show leases. Also checked first when a lease is changed or deleted.",
    ),
    Rule(
        name="blazar:leases:get_allocations",
        check=BY_READERS,
        description="List the resources that a lease holds, with host names. "
        "Checked after blazar:leases:get.",
    ),
    Rule(
        name="blazar:leases:get_history",
        check=BY_READERS,
        description="Read what happened to a lease, without names of others. "
        "Checked after blazar:leases:get.",
    ),
    Rule(
        name="blazar:leases:post",
        check=BY_MEMBERS,
        description="Create a lease.",
    ),
    Rule(
        name="blazar:leases:put",
        check=BY_MEMBERS,
        description="Change a lease.",
    ),
    Rule(
        name="blazar:leases:delete",
        check=BY_MEMBERS,
        description="Delete a lease.",
    ),
    Rule(
        name="blazar:catalogue:get",
        check=BY_READERS,
        description="Read what can be reserved: resource types, public properties, and the limits of the "
        "project.",
    ),
    Rule(
        name="blazar:availability:get",
        check=BY_READERS,
        description="Read the numbers of free resources over time.",
    ),
    Rule(
        name="blazar:timeline:get",
        check=BY_READERS,
        description="Read over time which resources are taken, by the caller, by the project, or by others.",
    ),
    Rule(
        name=RESOURCE_IDS,
        check=BY_OPERATORS,
        description="Read the ids of the resources in a timeline. For other callers, its rows have only "
        "numbers.",
    ),
    Rule(
        name="blazar:availability:search",
        check=BY_READERS,
        description="Search for the times at which reservations can be made.",
    ),
    Rule(
        name="blazar:offers:get",
        check=BY_READERS,
        description="List and show offers of the caller's project. Also checked first when an offer is "
        "deleted.",
    ),
    Rule(
        name="blazar:offers:post",
        check=BY_MEMBERS,
        description="Have resources held for a short time. A lease is made of them under blazar:leases:post.",
    ),
    Rule(
        name="blazar:offers:delete",
        check=BY_MEMBERS,
        description="Release what an offer of the caller's project holds.",
    ),
    Rule(
        name=PRIVATE_PROPERTIES,
        check=BY_OPERATORS,
        description="See private resource properties, and use them in requirements. For other callers "
        "they do not exist.",
    ),
)


def list_rules() -> list[policy.RuleDefault]:
    """Return every rule of this distribution; the ``oslo.policy.policies`` entry point."""
    return _list_rules(TYPE_APIS)


def _list_rules(types: Iterable[TypeApi]) -> list[policy.RuleDefault]:
    found, routes = [*_CORE_RULES], [*CORE_ROUTES]
    for each in types:
        found += each.rules
        routes += each.routes
    return [*_base_rules(), *(_documented(each, routes) for each in found)]


def _documented(rule: Rule, routes: Iterable[Route]) -> policy.RuleDefault:
    return policy.DocumentedRuleDefault(
        rule.name,
        rule.check,
        rule.description,
        [
            {"method": each.method, "path": each.path}
            for each in routes
            if rule.name in (*each.rules, *each.asked_by_handler)
        ],
        scope_types=["project"],
    )


def make_policy(conf: cfg.ConfigOpts, types: Iterable[TypeApi] = ()) -> Policy:
    """Return the policy configured in ``[oslo_policy]``, after reading its file.

    Args:
        conf: The configuration.
        types: The APIs of the resource types to serve, with those of other distributions.

    Raises:
        ValueError: The file is not usable.
    """
    enforcer = _enforcer(conf, [each for each in types if each not in TYPE_APIS])
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


def _enforcer(conf: cfg.ConfigOpts, more: Iterable[TypeApi] = ()) -> policy.Enforcer:
    enforcer = policy.Enforcer(conf)
    enforcer.register_defaults(_list_rules([*TYPE_APIS, *more]))
    return enforcer
