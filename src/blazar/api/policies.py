"""Every policy rule with its default.

Operators' policy files refer to the names and check strings; do not change them.
"""

from __future__ import annotations

from collections.abc import Iterable

from oslo_config import cfg
from oslo_policy import policy

from blazar.api.permissions import (
    ADMIN,
    Policy,
    Rule,
)
from blazar.api.route import Route
from blazar.api.routes import CORE_RULES, TYPE_APIS, routes_of
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


def list_rules() -> list[policy.RuleDefault]:
    """Return every rule of this distribution; the ``oslo.policy.policies`` entry point."""
    return _list_rules(TYPE_APIS)


def _list_rules(types: Iterable[TypeApi]) -> list[policy.RuleDefault]:
    types = tuple(types)
    found = [*CORE_RULES]
    for each in types:
        found += [rule for rule in each.rules if rule not in found]
    routes = routes_of(types)
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
