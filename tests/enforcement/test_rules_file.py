"""The file of usage rules, as it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from oslo_config import cfg

from blazar import config
from blazar.domain.rules.rule import Kind, Rules
from blazar.enforcement.rules_file import load_rules, read_rules

TYPES = ("physical:host", "virtual:floatingip", "virtual:instance")
EXAMPLE = Path(__file__).parents[2] / "etc" / "usage-rules.yaml"


def conf_of(tmp_path: Path, text: str) -> cfg.ConfigOpts:
    path = tmp_path / "blazar.conf"
    path.write_text(f"[enforcement]\n{text}\n")
    return config.make_conf([], "test", config_files=[str(path)])


def test_without_a_file_there_are_no_rules(tmp_path: Path) -> None:
    assert load_rules(conf_of(tmp_path, ""), TYPES) == Rules()


def test_the_example_is_valid_and_shows_every_kind() -> None:
    rules = read_rules(EXAMPLE, TYPES).all

    assert {each.kind for each in rules} == set(Kind)
    assert [each.name for each in rules if not each.is_enforced] == ["try-short-addresses"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"rules: [\n", "is not valid YAML"),
        (b"rules: []\nrules: []\n", "the key rules occurs twice"),
        (b"rules:\n- {name: a, kind: longest, longest_days: 1, longest_days: 2}\n", "days occurs twice"),
        (b"rules:\n- {name: a, kind: longest}\n", r"rule 1 \(a\): longest_hours: is missing"),
        (b"rules: \xff", "cannot be read"),
        (b"rules: !!python/object/apply:os.getcwd []", "is not valid YAML"),
        (b"? {a: 1}\n: 2\n", "is not valid YAML"),
        (b"", "the file must have a list named rules"),
        (b"[" * 5000, "is not valid YAML"),
    ],
)
def test_an_invalid_file_is_named_with_its_problem(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_bytes(content)

    with pytest.raises(ValueError, match=rf"(?s)^\[enforcement\] rules_file: {path}:? .*{problem}"):
        load_rules(conf_of(tmp_path, f"rules_file = {path}"), TYPES)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"rules_file: .*none.yaml cannot be read"):
        load_rules(conf_of(tmp_path, f"rules_file = {tmp_path}/none.yaml"), TYPES)
