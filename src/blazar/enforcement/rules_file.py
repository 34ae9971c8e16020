"""The file of usage rules, ``[enforcement] rules_file``."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from pathlib import Path
from typing import Any

import yaml
from oslo_config.cfg import ConfigOpts

from blazar.domain.rules.parsing import RuleProblem, parse_rules
from blazar.domain.rules.rule import Rules
from blazar.enforcement.options import GROUP


def load_rules(conf: ConfigOpts, resource_types: Collection[str]) -> Rules:
    """Return the rules of the configured file; none if no file is configured.

    Args:
        conf: The configuration.
        resource_types: The types that can be reserved.

    Raises:
        ValueError: As :func:`read_rules`; the message begins with the option.
    """
    name: str | None = conf[GROUP].rules_file
    if not name:
        return Rules()
    try:
        return read_rules(Path(name), resource_types)
    except ValueError as error:
        raise ValueError(f"[{GROUP}] rules_file: {error}") from error


def read_rules(path: Path, resource_types: Collection[str]) -> Rules:
    """Return the rules of a YAML file.

    Raises:
        ValueError: The file cannot be read, or is invalid; the message names the file, the rule and the key.
    """
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe loader
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ValueError(f"{path} is not valid YAML: {error}") from error
    try:
        return parse_rules(document, resource_types)
    except RuleProblem as error:
        raise ValueError(f"{path}: {error}") from error


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """The safe loader of YAML; it refuses a key that occurs twice, of which it would ignore the first."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for (key, _), value in zip(node.value, keys, strict=True):
            if keys.count(value) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {value!s:.64} occurs twice", key.start_mark
                )
        found: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return found
