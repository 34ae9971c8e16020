"""The blocks of configuration in the documentation can be used as they stand."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1 import loading
from keystonemiddleware import auth_token
from oslo_config import cfg
from oslo_limit import opts as limit_options
from oslo_policy import opts as policy_options

from blazar import config
from blazar.known_options import unknown_keys
from blazar.rpc import bus
from blazarnova import options as filter_options

assert bus.NAMESPACE  # Imported before this library, for which it chooses threads.
messaging_options = importlib.import_module("oslo_messaging.opts")

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *sorted((ROOT / "doc").rglob("*.md")),
    *(ROOT / each / "README.md" for each in (".", "client", "nova", "cloudlab")),
    *sorted((ROOT / "examples").rglob("README.md")),
]
BLOCK = re.compile(r"^```ini\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LATE_COMMENT = re.compile(r"^[^#;\n]*=.*[ \t][#;]", re.MULTILINE)
SECTION = re.compile(r"^\[(.+?)\](.*)$", re.MULTILINE)
NOVA = "# nova.conf\n"
LIBRARIES = frozenset({"database", "keystone_authtoken", "oslo_limit", "oslo_policy"})
"""Groups of libraries of which all options are known here; of others, unknown keys are not noticed."""


def _blocks() -> Iterator[object]:
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        for number, found in enumerate(BLOCK.finditer(page.read_text()), 1):
            yield pytest.param(found[1], id=f"{name}:{number}")


BLOCKS = list(_blocks())


def _load(path: Path, text: str) -> cfg.ConfigOpts:
    path.write_text(text)
    conf = config.make_conf([], "test", config_files=[str(path)])
    found = list(config.list_opts())
    for library in (messaging_options, limit_options, policy_options, auth_token):
        found += library.list_opts()
    found += [
        (
            group,
            [
                *loading.get_auth_common_conf_options(),
                *loading.get_auth_plugin_conf_options("password"),
            ],
        )
        for group in ("keystone_authtoken", "oslo_limit")
    ]
    for group, options in found:
        for option in options:
            # Some are listed twice, with other help texts.
            with suppress(cfg.DuplicateOptError):
                conf.register_opt(option, group=group)
    return conf


def _keys(path: Path) -> Iterator[tuple[str, str]]:
    sections: dict[str, dict[str, list[str]]] = {}
    cfg.ConfigParser(str(path), sections).parse()
    for group, values in sections.items():
        for key in values:
            yield group, key.replace("-", "_")


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 10


@pytest.mark.parametrize("text", BLOCKS)
def test_comments_have_lines_of_their_own(text: str) -> None:
    assert LATE_COMMENT.search(text) is None
    assert [after for _, after in SECTION.findall(text) if after.strip()] == []


@pytest.mark.parametrize("text", [each for each in BLOCKS if not each.values[0].startswith(NOVA)])  # type: ignore[attr-defined]
def test_a_block_of_blazar_conf_has_known_options_with_usable_values(text: str, tmp_path: Path) -> None:
    path = tmp_path / "blazar.conf"
    conf = _load(path, text)

    assert unknown_keys(conf) == []
    for group, key in _keys(path):
        is_foreign = group != "DEFAULT" and group not in conf
        values: Any = {} if is_foreign else conf if group == "DEFAULT" else conf[group]
        if key in values or group in LIBRARIES:
            assert values[key] is not None


@pytest.mark.parametrize("text", [each for each in BLOCKS if each.values[0].startswith(NOVA)])  # type: ignore[attr-defined]
def test_a_block_of_nova_conf_has_the_filters_options(text: str, tmp_path: Path) -> None:
    path = tmp_path / "nova.conf"
    conf = _load(path, text)
    conf.register_opts(filter_options.OPTIONS, group=filter_options.GROUP)

    for group, key in _keys(path):
        if group == filter_options.GROUP:
            assert conf[group][key]
